import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tortureRuntime } from './run.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

test('kills of the runtime lose no line and no exit code, and leave nothing behind', { skip }, async () => {
  const seed = Number(process.env.T8S_SEED ?? Date.now() % 1_000_000)
  assert.equal(await tortureRuntime({ kills: 4, pods: 4, seed }), false, `with T8S_SEED=${seed}`)
})
