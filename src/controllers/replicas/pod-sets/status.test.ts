import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, ReplicaSet } from '../../../client/kinds.ts'
import { statusOf } from './status.ts'

const now = Date.parse('2026-01-01T00:01:00Z')
const set = (more: object = {}): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'r', generation: 3 },
  spec: {
    replicas: 3,
    minReadySeconds: 30,
    selector: { matchLabels: { app: 'r' } },
    template: { metadata: { labels: { app: 'r', v: '1' } } },
  },
  status: { replicas: 0, ...more },
})
const pod = (labels: Record<string, string>, readySince?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', labels },
  status: {
    phase: 'Running',
    ...(readySince && { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }] }),
  },
})
const active = [
  pod({ app: 'r', v: '1' }),
  pod({ app: 'r', v: '1' }, '2026-01-01T00:00:45Z'),
  pod({ app: 'r' }, '2026-01-01T00:00:30Z'),
]

test('pods are counted by their labels, readiness and availability', () => {
  assert.deepEqual(statusOf(set(), { active, terminating: 1, failure: undefined, now }), {
    replicas: 3,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 1,
    terminatingReplicas: 1,
    observedGeneration: 3,
  })
  const terminating = (count: number | undefined) =>
    statusOf(set(), { active, terminating: count, failure: undefined, now })
  assert.equal(terminating(0).terminatingReplicas, 0)
  assert.equal('terminatingReplicas' in terminating(undefined), false)
})

test('a failure to create or delete pods is a condition while it lasts', () => {
  const failing = (count: number, status: object = {}) =>
    statusOf(set(status), { active: active.slice(0, count), terminating: 0, failure: new Error('no'), now }).conditions
  const condition = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'no',
    lastTransitionTime: '2026-01-01T00:01:00Z',
  }
  assert.deepEqual(failing(1), [condition])
  assert.equal(failing(3)?.[0]?.reason, 'FailedDelete')
  const before = { ...condition, message: 'earlier' }
  assert.deepEqual(failing(1, { conditions: [before] }), [before])
  assert.equal(
    statusOf(set({ conditions: [before] }), { active, terminating: 0, failure: undefined, now }).conditions,
    undefined,
  )
})
