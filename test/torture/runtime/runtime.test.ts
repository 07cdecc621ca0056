import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tortureRuntime } from './run.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

for (const [target, what] of [
  ['runtime', 'the runtime'],
  ['node', 'a cluster with a real node'],
] as const)
  test(`kills of ${what} lose no line and no exit code, and leave nothing behind`, { skip }, async () => {
    const seed = Number(process.env.T8S_SEED ?? Date.now() % 1_000_000)
    assert.equal(await tortureRuntime({ target, kills: 3, pods: 3, seed }), false, `with T8S_SEED=${seed}`)
  })
