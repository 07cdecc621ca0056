/**
 * Tests of the conformance suite for the garbage collector (`test/e2e/apimachinery/garbage_collector.go`), under its
 * names.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppsV1Api, type V1Deployment, type V1Pod, type V1ReplicationController } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, merging, pod } from '../support/clients.ts'

const clients = conformanceClients({})
const labels = { app: 'simple' }
const template = { metadata: { labels }, spec: pod('p').spec }
const hold = ['example.com/hold']
const many = 10

/** Creates a namespace, with functions for the steps of the tests in it. */
async function garden(name: string) {
  const { core, config, namespace: make } = clients()
  const namespace = await make(name)
  const apps = config.makeApiClient(AppsV1Api)
  const pods = async (): Promise<V1Pod[]> => (await core.listNamespacedPod({ namespace })).items
  const patchPod = (name: string, metadata: object): Promise<V1Pod> =>
    core.patchNamespacedPod({ namespace, name, body: { metadata } }, merging)
  return {
    core,
    apps,
    namespace,
    pods,
    patchPod,
    untilPods: (what: string, holds: (all: V1Pod[]) => boolean) =>
      waitFor(`the pods of ${name} to ${what}`, async () => {
        const all = await pods()
        return holds(all) && all
      }),
    replicationController: (name: string, replicas: number, app = name): Promise<V1ReplicationController> => {
      const spec = { replicas, selector: { app }, template: { metadata: { labels: { app } }, spec: template.spec } }
      return core.createNamespacedReplicationController({ namespace, body: { metadata: { name }, spec } })
    },
    /** Creates a Deployment. Resolves when all its pods exist. */
    async deployment(replicas: number): Promise<V1Deployment> {
      const deployment = await apps.createNamespacedDeployment({
        namespace,
        body: { metadata: { name: 'simple' }, spec: { replicas, selector: { matchLabels: labels }, template } },
      })
      await waitFor('its pods', async () => (await pods()).length === replicas)
      return deployment
    },
    sets: async () => (await apps.listNamespacedReplicaSet({ namespace })).items,
  }
}

const isFree = ({ metadata }: { metadata?: V1Pod['metadata'] }): boolean =>
  !metadata?.ownerReferences && !metadata?.deletionTimestamp

describe('garbage collector', { concurrency: 4 }, () => {
  test('Garbage Collector, delete replication controller, propagation policy background', async () => {
    const { core, namespace, replicationController, untilPods } = await garden('rc-background')
    await replicationController('rc', 2)
    await untilPods('be made', (all) => all.length > 0)
    await core.deleteNamespacedReplicationController({ namespace, name: 'rc', propagationPolicy: 'Background' })
    await untilPods('go', (all) => all.length === 0)
  })

  test('Garbage Collector, delete replication controller, propagation policy orphan', async () => {
    const { core, namespace, replicationController, untilPods } = await garden('rc-orphan')
    await replicationController('rc', many)
    await untilPods('be made', (all) => all.length === many)
    await core.deleteNamespacedReplicationController({ namespace, name: 'rc', propagationPolicy: 'Orphan' })
    await untilPods('be free', (all) => all.length === many && all.every(isFree))
    await waitFor(
      'the controller to go',
      async () => (await core.listNamespacedReplicationController({ namespace })).items.length === 0,
    )
  })

  test('Garbage Collector, delete replication controller, after owned pods', async () => {
    const { core, namespace, replicationController, untilPods, patchPod } = await garden('rc-foreground')
    await replicationController('rc', many)
    const [last] = await untilPods('be made', (all) => all.length === many)
    const name = last?.metadata?.name ?? ''
    await patchPod(name, { finalizers: hold })
    await core.deleteNamespacedReplicationController({ namespace, name: 'rc', propagationPolicy: 'Foreground' })
    await untilPods('go but for one', (all) => all.length === 1 && all[0]?.metadata?.deletionTimestamp !== undefined)
    const waiting = await core.readNamespacedReplicationController({ namespace, name: 'rc' })
    assert.deepEqual(waiting.metadata?.finalizers, ['foregroundDeletion'])
    await patchPod(name, { finalizers: null })
    await waitFor(
      'the controller to go',
      async () => (await core.listNamespacedReplicationController({ namespace })).items.length === 0,
    )
    await untilPods('be gone', (all) => all.length === 0)
  })

  test('Garbage Collector, multiple owners', async () => {
    const { core, namespace, replicationController, untilPods, patchPod } = await garden('rc-two-owners')
    await replicationController('to-be-deleted', many)
    const { metadata } = await replicationController('to-stay', 0)
    const all = await untilPods('be made', (made) => made.length === many)
    const kept = all.slice(0, many / 2).map((one) => one.metadata?.name ?? '')
    for (const one of all.slice(0, many / 2)) {
      const second = { apiVersion: 'v1', kind: 'ReplicationController', name: 'to-stay', uid: metadata?.uid }
      await patchPod(one.metadata?.name ?? '', { ownerReferences: [...(one.metadata?.ownerReferences ?? []), second] })
    }
    await core.deleteNamespacedReplicationController({
      namespace,
      name: 'to-be-deleted',
      propagationPolicy: 'Foreground',
    })
    await waitFor(
      'the first owner to go',
      async () => (await core.listNamespacedReplicationController({ namespace })).items.length === 1,
    )
    const left = await untilPods('have one owner each', (pods) =>
      pods.every((one) => one.metadata?.ownerReferences?.length === 1),
    )
    assert.deepEqual(left.map((one) => one.metadata?.name).sort(), kept.sort())
    for (const one of left)
      assert.deepEqual(
        [one.metadata?.ownerReferences?.[0]?.name, one.metadata?.deletionTimestamp],
        ['to-stay', undefined],
      )
  })

  test('Garbage Collector, dependency cycle', async () => {
    const { core, namespace, untilPods, patchPod } = await garden('cycle')
    const made: V1Pod[] = []
    for (const name of ['pod1', 'pod2', 'pod3'])
      made.push(await core.createNamespacedPod({ namespace, body: pod(name) }))
    for (const [at, name] of ['pod1', 'pod2', 'pod3'].entries()) {
      const owner = made[(at + 2) % 3]?.metadata
      const reference = {
        apiVersion: 'v1',
        kind: 'Pod',
        name: owner?.name,
        uid: owner?.uid,
        controller: true,
        blockOwnerDeletion: true,
      }
      await patchPod(name, { ownerReferences: [reference] })
    }
    await core.deleteNamespacedPod({ namespace, name: 'pod1', propagationPolicy: 'Foreground' })
    await untilPods('go', (all) => all.length === 0)
  })

  // The two spaces are upstream's.
  test('Garbage Collector, delete deployment,  propagation policy background', async () => {
    const { apps, namespace, deployment, sets, untilPods } = await garden('deployment-background')
    await deployment(2)
    await apps.deleteNamespacedDeployment({ namespace, name: 'simple', propagationPolicy: 'Background' })
    await waitFor('the ReplicaSet to go', async () => (await sets()).length === 0)
    await untilPods('go', (all) => all.length === 0)
  })

  test('Garbage Collector, delete deployment, propagation policy orphan', async () => {
    const { apps, namespace, deployment, sets, pods } = await garden('deployment-orphan')
    await deployment(2)
    await apps.deleteNamespacedDeployment({ namespace, name: 'simple', propagationPolicy: 'Orphan' })
    await waitFor(
      'the Deployment to go',
      async () => (await apps.listNamespacedDeployment({ namespace })).items.length === 0,
    )
    const [set] = await waitFor('the ReplicaSet to be free', async () => {
      const all = await sets()
      return all.length === 1 && all.every(isFree) && all
    })
    // The set still owns its pods.
    const owners = (await pods()).map((one) => one.metadata?.ownerReferences?.[0]?.uid)
    assert.deepEqual(owners, [set?.metadata?.uid, set?.metadata?.uid])
  })
})
