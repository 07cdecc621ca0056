import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, ReplicaSet } from '../../../client/kinds.ts'
import { conditionOf, type DeploymentStatus, newCondition, reasons } from './conditions.ts'
import { isComplete, progressCheckInMs, rolloutStatus, withPause } from './status.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const progressing = (reason: string, status: 'True' | 'False' | 'Unknown' = 'True', now = start) =>
  newCondition('Progressing', status, reason, '', now)

const deployment = (status: DeploymentStatus = {}, more: object = {}): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', generation: 1 },
  spec: {
    replicas: 2,
    progressDeadlineSeconds: 10,
    selector: {},
    template: {},
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    ...more,
  },
  status,
})

const set = (name: string, replicas: number, ready: number, more: object = {}): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name },
  spec: { replicas, selector: {} },
  status: { replicas, readyReplicas: ready, availableReplicas: ready, ...more },
})

const statusAt = (of: Deployment, newSet: ReplicaSet, oldSets: ReplicaSet[] = [], now = start) => {
  const status = rolloutStatus(of, { newSet, oldSets }, now)
  const { reason, message, lastUpdateTime } = conditionOf(status.conditions ?? [], 'Progressing') ?? {}
  return { status, progress: [reason, message], lastUpdateTime }
}

test('counts are sums over all ReplicaSets, and updatedReplicas counts the new one', () => {
  const { status } = statusAt(deployment(), set('new', 1, 0, { terminatingReplicas: 0 }), [
    set('old', 2, 2, { terminatingReplicas: 1 }),
  ])
  const { conditions, ...numbers } = status
  assert.deepEqual(numbers, {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 1,
    readyReplicas: 2,
    availableReplicas: 2,
    unavailableReplicas: 1,
    terminatingReplicas: 1,
  })
  assert.equal(
    statusAt(deployment(), set('new', 1, 0), [set('old', 2, 2, { terminatingReplicas: 1 })]).status.terminatingReplicas,
    undefined,
  )
  assert.equal(conditionOf(conditions ?? [], 'Available')?.message, 'Deployment has minimum availability.')
})

test('a rollout is complete when all pods are updated and available', () => {
  const began = deployment({ conditions: [progressing(reasons.created)] })
  assert.deepEqual(statusAt(began, set('new', 2, 0)).progress, [reasons.updated, 'ReplicaSet "new" is progressing.'])
  assert.deepEqual(statusAt(began, set('new', 2, 2)).progress, [
    reasons.available,
    'ReplicaSet "new" has successfully progressed.',
  ])
})

test('progress resets the start of the progress deadline', () => {
  const before = deployment({ replicas: 2, updatedReplicas: 2, conditions: [progressing(reasons.updated)] })
  assert.equal(statusAt(before, set('new', 2, 1), [], start + 5000).lastUpdateTime, '2026-01-01T00:00:05Z')
  assert.equal(statusAt(before, set('new', 2, 0), [], start + 5000).lastUpdateTime, '2026-01-01T00:00:00Z')
})

test('a rollout without progress times out after its deadline', () => {
  const stuck = deployment({
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    conditions: [progressing(reasons.updated)],
  })
  assert.deepEqual(statusAt(stuck, set('new', 2, 0), [], start + 10_000).progress[0], reasons.updated)
  assert.deepEqual(statusAt(stuck, set('new', 2, 0), [], start + 10_001).progress, [
    reasons.timedOut,
    'ReplicaSet "new" has timed out progressing.',
  ])
  assert.equal(progressCheckInMs(stuck, stuck.status ?? {}, start + 4000), 6001)
})

test('a complete rollout does not time out when pods fail later', () => {
  const complete = deployment({ replicas: 2, updatedReplicas: 2, conditions: [progressing(reasons.available)] })
  assert.deepEqual(statusAt(complete, set('new', 2, 0), [], start + 60_000).progress[0], reasons.available)
  assert.equal(progressCheckInMs(complete, complete.status ?? {}, start), undefined)
})

test('without a deadline no Progressing condition is set', () => {
  const of = deployment({ conditions: [progressing(reasons.updated)] }, { progressDeadlineSeconds: 2 ** 31 - 1 })
  assert.deepEqual(statusAt(of, set('new', 2, 0)).progress, [undefined, undefined])
})

test('a ReplicaFailure is copied from a ReplicaSet and removed with it', () => {
  const failure = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'no',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const { status } = statusAt(deployment(), set('new', 2, 0, { conditions: [failure] }))
  assert.deepEqual(conditionOf(status.conditions ?? [], 'ReplicaFailure'), {
    ...failure,
    lastUpdateTime: failure.lastTransitionTime,
  })
  assert.equal(
    conditionOf(statusAt(deployment(status), set('new', 2, 0)).status.conditions ?? [], 'ReplicaFailure'),
    undefined,
  )
})

test('pause and resume set the Progressing condition unless the rollout has timed out', () => {
  const paused = deployment({ conditions: [progressing(reasons.updated)] }, { paused: true })
  const conditions = withPause(paused, start)
  assert.deepEqual(
    conditions.map(({ status, reason, message }) => [status, reason, message]),
    [['Unknown', 'DeploymentPaused', 'Deployment is paused']],
  )
  assert.equal(withPause(deployment({ conditions }), start)[0]?.reason, 'DeploymentResumed')
  assert.equal(
    withPause(deployment({ conditions: [progressing(reasons.timedOut)] }, { paused: true }), start)[0]?.reason,
    reasons.timedOut,
  )
})

test('without a deadline a pause sets no condition', () => {
  assert.deepEqual(withPause(deployment({}, { paused: true, progressDeadlineSeconds: 2 ** 31 - 1 }), start), [])
})

test('isComplete needs all pods updated and available and an observed generation', () => {
  const numbers = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 }
  assert.equal(isComplete(deployment(), numbers), true)
  for (const less of [{ observedGeneration: 0 }, { replicas: 3 }, { updatedReplicas: 1 }, { availableReplicas: 1 }])
    assert.equal(isComplete(deployment(), { ...numbers, ...less }), false)
})
