/** A short torture of two API servers on an etcd cluster of three. `npm run torture -- --etcd` runs for longer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tortureEtcd } from './run.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

test('faults of etcd and of API servers lose no write and no event', { skip }, async () => {
  const seed = Number(process.env.T8S_SEED ?? Date.now() % 1_000_000)
  assert.equal(await tortureEtcd({ faults: 5, kinds: ['leader'], writers: 16, seed }), false, `with T8S_SEED=${seed}`)
})
