import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import { type Deployment, deployments, type ReplicaSet, replicaSets } from '../../../client/kinds.ts'
import { systemClock } from '../../../lib/clock/clock.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { deploymentController } from './controller.ts'
import { replicasOf } from './sizes/sizes.ts'

const deployment = (image: string, resourceVersion: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default', uid: 'd', resourceVersion },
  spec: {
    replicas: 5,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
  },
})

test('a Deployment counts ReplicaSets that it created before the cache contains them', async () => {
  let cached = deployment('app:1', '1')
  let shown: ReplicaSet[] = []
  const made: ReplicaSet[] = []
  // Index look-ups return the objects of the one Deployment.
  const caches = {
    get: (resource: unknown, _namespace: string, name: string) =>
      resource === deployments ? cached : shown.find(({ metadata }) => metadata.name === name),
    by: (resource: unknown, index: (object: ReplicaSet) => readonly string[], value: string) =>
      resource === replicaSets ? shown.filter((set) => index(set).includes(value)) : [],
  } as unknown as Caches
  const client = {
    async create(_resource: unknown, object: ReplicaSet) {
      const created = {
        ...object,
        metadata: { ...object.metadata, uid: object.metadata.name, resourceVersion: `${made.length + 10}` },
      }
      made.push(created)
      return created
    },
    update: async (_resource: unknown, object: KubeObject) => object,
    updateStatus: async (_resource: unknown, object: KubeObject) => object,
  }
  const context = {
    client,
    caches,
    clock: systemClock,
    events: { record() {} },
    requeue() {},
    log() {},
  } as unknown as ReconcileContext
  const controller = deploymentController(1)
  await controller.reconcile?.('default/web', context)
  shown = [...made]
  cached = deployment('app:2', '2')
  await controller.reconcile?.('default/web', context)
  assert.deepEqual(made.map(replicasOf), [5, 2])
  // Without the second set, the surge would allow two pods in the third set.
  cached = deployment('app:3', '3')
  await controller.reconcile?.('default/web', context)
  assert.deepEqual(made.map(replicasOf), [5, 2])
  shown = [...made]
  await controller.reconcile?.('default/web', context)
  assert.deepEqual(made.map(replicasOf), [5, 2, 0])
})
