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

/**
 * What is done with a pod that is looked at twice, and how many are counted; `refusals` are the first answers to what
 * is written of it.
 */
async function done(user: string, ...refusals: Error[]) {
  const did: string[] = []
  const registry = new MetricsRegistry()
  const { reconcile } = deviceTaintEviction(deviceTaintMetrics(registry))
  const caches = {
    get: (of: Resource) => (of.plural === claims.plural ? claimFor(user) : pod),
    by: () => [slice],
  } as unknown as Caches
  const client = {
    async patch() {
      const refusal = refusals.shift()
      if (refusal) throw refusal
      return pod
    },
    delete: async () => void did.push('deleted'),
  }
  const events = { record: (...[, , , message]: string[]) => void did.push(message ?? '') }
  const look = async () => reconcile?.('n/p', { caches, client, events } as unknown as ReconcileContext)
  await look().catch((error: Error) => void did.push(error.message))
  await look()
  return [...did, /pod_deletions_total (\d+)/.exec(registry.render())?.[1]]
}

test('a pod that has a device with such a taint is deleted once', async () => {
  assert.deepEqual(await done('u'), ['Marking for deletion', 'deleted', '1'])
  assert.deepEqual(await done('u', new Error('not now')), ['not now', 'Marking for deletion', 'deleted', '1'])
})

test('a pod stays whose claim is for one that had its name before', async () =>
  assert.deepEqual(await done('before'), ['0']))

test('nothing is told of a pod that has gone already', async () =>
  assert.deepEqual(await done('u', notFound({ group: '', name: pods.plural }, 'p')), ['0']))
