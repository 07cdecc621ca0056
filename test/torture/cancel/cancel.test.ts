/**
 * A short cancel storm. `STORM_SECONDS` sets its duration, `T8S_SEED` repeats one; `npm run torture -- --cancel` runs
 * for minutes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Storm } from './storm.ts'

const seconds = Number(process.env.STORM_SECONDS ?? 20)
const seed = Number(process.env.T8S_SEED ?? Date.now() % 1_000_000)

test(`a cancel storm of ${seconds} s leaves no traces in the server (seed ${seed})`, async (t) => {
  const storm = await Storm.begin(seed)
  let isWell = false
  t.after(() => storm.end(isWell))
  const { faults, left, sent } = await storm.run(seconds)
  assert.deepEqual(faults, [])
  assert.ok(sent > 0 && left > 0, `${left} of ${sent} requests were cancelled`)
  isWell = true
})
