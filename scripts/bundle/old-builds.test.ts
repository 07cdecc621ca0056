import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retainedBuilds } from './old-builds.ts'

const hour = 3600 * 1000
const now = 100 * hour
/** Builds 10, 5 and 3 hours ago, and half an hour ago. */
const builds = [10, 5, 3, 0.5].map((hours) => ({ time: now - hours * hour, files: [`chunk-${hours}.js`] }))
const retained = (starts: readonly number[] | undefined): number[] =>
  retainedBuilds(builds, starts, now).map(({ time }) => (now - time) / hour)

test('chunks of the newest build and of those replaced within an hour stay', () =>
  assert.deepEqual(retained([]), [3, 0.5]))

test('chunks of the build that a running program started from stay', () => {
  assert.deepEqual(retained([now - 8 * hour]), [10, 3, 0.5])
  assert.deepEqual(retained([now - 4 * hour, now - 2 * hour]), [5, 3, 0.5])
  // It started from a build that is no longer on disk.
  assert.deepEqual(retained([now - 20 * hour]), [3, 0.5])
})

test('chunks of a day stay where running programs are unknown', () => {
  assert.deepEqual(retained(undefined), [10, 5, 3, 0.5])
  assert.deepEqual(
    retainedBuilds(builds, undefined, now + 30 * hour).map(({ time }) => time),
    [now - 0.5 * hour],
  )
})
