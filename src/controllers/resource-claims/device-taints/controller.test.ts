import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import {
  resourceClaims as claims,
  type Pod,
  pods,
  type ResourceClaim,
  type ResourceSlice,
} from '../../../client/kinds.ts'
import type { Resource } from '../../../client/resource.ts'
import { systemClock } from '../../../lib/clock/clock.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { notFound } from '../../../machinery/status-error.ts'
import { deviceTaintMetrics } from '../../pods/eviction-metrics.ts'
import { deviceTaintEviction } from './controller.ts'

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'n', name: 'p', uid: 'u' },
  spec: { containers: [], nodeName: 'node', resourceClaims: [{ name: 'a', resourceClaimName: 'c' }] },
} as Pod
const taints = [{ key: 'sick', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }]
const slice = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name: 's' },
  spec: { driver: 'd', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, devices: [{ name: 'gpu', taints }] },
} as ResourceSlice
const claimFor = (uid: string): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { namespace: 'n', name: 'c' },
  spec: {},
  status: {
    allocation: { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: 'gpu' }] } },
    reservedFor: [{ resource: 'pods', name: 'p', uid }],
  },
})

/** Reconciles a pod twice; returns the actions and the deletion count. `errors` are the first responses to patches. */
async function reconcileTwice(user: string, ...errors: Error[]) {
  const actions: string[] = []
  const registry = new MetricsRegistry()
  const { reconcile } = deviceTaintEviction(deviceTaintMetrics(registry))
  const caches = {
    get: (of: Resource) => (of.plural === claims.plural ? claimFor(user) : pod),
    by: () => [slice],
  } as unknown as Caches
  const client = {
    async patch() {
      const error = errors.shift()
      if (error) throw error
      return pod
    },
    delete: async () => void actions.push('deleted'),
  }
  const events = { record: (...[, , , message]: string[]) => void actions.push(message ?? '') }
  const sync = async () =>
    reconcile?.('n/p', { caches, client, events, clock: systemClock } as unknown as ReconcileContext)
  await sync().catch((error: Error) => void actions.push(error.message))
  await sync()
  return [...actions, /pod_deletions_total (\d+)/.exec(registry.render())?.[1]]
}

test('a pod with a tainted device is evicted once', async () => {
  assert.deepEqual(await reconcileTwice('u'), ['Marking for deletion', 'deleted', '1'])
  assert.deepEqual(await reconcileTwice('u', new Error('not now')), ['not now', 'Marking for deletion', 'deleted', '1'])
})

test('a pod whose claim is reserved for its predecessor is not evicted', async () =>
  assert.deepEqual(await reconcileTwice('previous'), ['0']))

test('no event is recorded for a deleted pod', async () =>
  assert.deepEqual(await reconcileTwice('u', notFound({ group: '', name: pods.plural }, 'p')), ['0']))
