import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aSet, pods, situation } from '../set.fixture.ts'
import { statusOf, withoutZeros } from './status.ts'

const summary = (of: Parameters<typeof statusOf>[0], outdated = 0): unknown[] => {
  const { replicas, readyReplicas, availableReplicas, currentReplicas, updatedReplicas, currentRevision } = statusOf(
    of,
    0,
    outdated,
  )
  return [replicas, readyReplicas, availableReplicas, currentReplicas, updatedReplicas, currentRevision]
}

test('the status counts existing, ready, available, current and updated pods', () => {
  const set = aSet({ minReadySeconds: 30 })
  const members = pods({ 0: ['ready', 'new'], 1: 'fresh', 2: 'pending', 3: 'terminating' })
  assert.deepEqual(summary(situation(set, members, { updating: true })), [4, 3, 2, 2, 1, 'web-old'])
  // One of the old ones was just deleted for the update.
  assert.deepEqual(summary(situation(set, members, { updating: true }), 1), [4, 3, 2, 1, 1, 'web-old'])
})

test('an update is complete when all pods exist, are updated and ready', () => {
  const complete = pods({ 0: ['ready', 'new'], 1: ['ready', 'new'], 2: ['ready', 'new'] })
  assert.deepEqual(summary(situation(aSet(), complete, { updating: true })), [3, 3, 3, 3, 3, 'web-new'])
  assert.deepEqual(summary(situation(aSet(), complete.slice(1), { updating: true })), [2, 2, 2, 0, 2, 'web-old'])
  assert.deepEqual(summary(situation(aSet({ updateStrategy: { type: 'OnDelete' } }), complete, { updating: true })), [
    3,
    3,
    3,
    0,
    3,
    'web-old',
  ])
  assert.deepEqual(summary(situation(aSet({ replicas: 0 }), [], { updating: true })), [0, 0, 0, 0, 0, 'web-new'])
})

test('zero counts are omitted and foreign conditions are retained', () => {
  const set = { ...aSet(), status: { replicas: 0, conditions: [{ type: 'Mine', status: 'True' }] } }
  assert.deepEqual(withoutZeros(statusOf(situation(set, []), 2, 0)), {
    conditions: [{ type: 'Mine', status: 'True' }],
    observedGeneration: 1,
    replicas: 0,
    availableReplicas: 0,
    currentRevision: 'web-old',
    updateRevision: 'web-old',
    collisionCount: 2,
  })
})
