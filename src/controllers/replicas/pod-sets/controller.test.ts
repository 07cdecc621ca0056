import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import { type Pod, pods, type ReplicaSet } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { Resource } from '../../../client/resource.ts'
import { systemClock } from '../../../lib/clock/clock.ts'
import { podSetController } from './controller.ts'
import { replicaSetKind } from './kind.ts'

const labels = { app: 'r' }
const set: ReplicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { namespace: 'n', name: 'r', uid: 'r', generation: 1 },
  spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels } } },
  status: { replicas: 3 },
}
const podOf = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'n',
    name,
    uid: name,
    labels,
    creationTimestamp: '2026-01-01T00:00:00Z',
    ownerReferences: [controllerReference(set)],
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
})

test('pods that were deleted in this reconcile are not counted in the status', async () => {
  const cached = new Map(['a', 'b', 'c'].map((name) => [name, podOf(name)]))
  const { watches = [], reconcile = async () => {} } = podSetController(replicaSetKind, 1)
  const watchOfPods = watches.find(({ resource }) => resource.plural === pods.plural)
  const caches = {
    get: (of: Resource, _: string, name: string) => (of.plural === pods.plural ? cached.get(name) : set),
    by: (_: Resource, __: unknown, value: string) => (value === 'r' ? [...cached.values()] : []),
  } as unknown as Caches
  let written: ReplicaSet['status']
  let deleted = 0
  const client = {
    async delete(_: Resource, __: string, name: string) {
      if (++deleted > 1) return
      const pod = cached.get(name)
      cached.delete(name)
      watchOfPods?.onChange?.(undefined, pod, context)
    },
    async updateStatus(_: Resource, { status }: ReplicaSet) {
      written = status
    },
  }
  const context = {
    caches,
    client,
    clock: systemClock,
    requeue() {},
    events: { record() {} },
  } as unknown as ReconcileContext
  await reconcile('n/r', context)
  assert.deepEqual([deleted, cached.size], [2, 2])
  assert.deepEqual([written?.replicas, written?.availableReplicas], [1, 1])
})
