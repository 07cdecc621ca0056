import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aSet, pods, situation } from '../set-for-tests.ts'
import { statusOf, withoutNoughts } from './status.ts'

const summary = (of: Parameters<typeof statusOf>[0], outdated = 0): unknown[] => {
  const { replicas, readyReplicas, availableReplicas, currentReplicas, updatedReplicas, currentRevision } = statusOf(
    of,
    0,
    outdated,
  )
  return [replicas, readyReplicas, availableReplicas, currentReplicas, updatedReplicas, currentRevision]
}

test('the status counts pods that are there, ready, available, and of the current and the new revision', () => {
  const set = aSet({ minReadySeconds: 30 })
  const members = pods({ 0: ['ready', 'new'], 1: 'fresh', 2: 'pending', 3: 'going' })
  assert.deepEqual(summary(situation(set, members, { updating: true })), [4, 3, 2, 2, 1, 'web-old'])
  // One of the old ones was just deleted for the update.
  assert.deepEqual(summary(situation(set, members, { updating: true }), 1), [4, 3, 2, 1, 1, 'web-old'])
})

test('an update is through when all pods are there, new and ready', () => {
  const through = pods({ 0: ['ready', 'new'], 1: ['ready', 'new'], 2: ['ready', 'new'] })
  assert.deepEqual(summary(situation(aSet(), through, { updating: true })), [3, 3, 3, 3, 3, 'web-new'])
  assert.deepEqual(summary(situation(aSet(), through.slice(1), { updating: true })), [2, 2, 2, 0, 2, 'web-old'])
  assert.deepEqual(summary(situation(aSet({ updateStrategy: { type: 'OnDelete' } }), through, { updating: true })), [
    3,
    3,
    3,
    0,
    3,
    'web-old',
  ])
  assert.deepEqual(summary(situation(aSet({ replicas: 0 }), [], { updating: true })), [0, 0, 0, 0, 0, 'web-new'])
})

test('what is nought is left out, conditions stay', () => {
  const set = { ...aSet(), status: { replicas: 0, conditions: [{ type: 'Mine', status: 'True' }] } }
  assert.deepEqual(withoutNoughts(statusOf(situation(set, []), 2, 0)), {
    conditions: [{ type: 'Mine', status: 'True' }],
    observedGeneration: 1,
    replicas: 0,
    availableReplicas: 0,
    currentRevision: 'web-old',
    updateRevision: 'web-old',
    collisionCount: 2,
  })
})
