/**
 * Conformance tests of StatefulSets (`test/e2e/apps/statefulset.go`) and others. The test simulates the kubelet.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { StatefulSet } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { PlayedNamespace } from './played-namespace.ts'

const gates = '--feature-gates=MaxUnavailableStatefulSet=true'
const cluster = testCluster(
  { after },
  { controllers: ['statefulset', 'serviceaccount-controller'], apiServerFlags: [gates] },
)

type Spec = Partial<NonNullable<StatefulSet['spec']>>

const setOf = (spec: Spec): object => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    replicas: 3,
    serviceName: 'web',
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web:1' }] } },
    ...spec,
  },
})

const data = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
}

class Web {
  readonly ns: PlayedNamespace
  readonly path: string

  private constructor(ns: PlayedNamespace) {
    this.ns = ns
    this.path = `${ns.apps}/statefulsets/web`
  }

  static async in(name: string, spec: Spec = {}): Promise<Web> {
    const web = new Web(await PlayedNamespace.in(await cluster, name))
    await web.ns.post(`${web.ns.apps}/statefulsets`, setOf(spec))
    return web
  }

  get(): Promise<StatefulSet> {
    return this.ns.get(this.path)
  }

  change(spec: object): Promise<StatefulSet> {
    return this.ns.patch(this.path, { spec })
  }

  living(...expected: string[]): Promise<boolean> {
    return waitFor(`the pods ${expected}`, async () => (await this.ns.living('web')).join() === expected.join())
  }

  /** Simulates the kubelet until all pods are ready at the newest revision. */
  rolledOut(): Promise<StatefulSet> {
    return this.ns.playUntil('web', 'the rollout', async () => {
      const set = await this.get()
      const { observedGeneration, updatedReplicas, readyReplicas, replicas, currentRevision, updateRevision } =
        set.status ?? { replicas: 0 }
      const isDone = [updatedReplicas ?? 0, readyReplicas ?? 0, replicas].every((count) => count === set.spec?.replicas)
      return observedGeneration === set.metadata.generation && isDone && currentRevision === updateRevision && set
    })
  }
}

test('Scaling should happen in predictable order and halt if any stateful pod is unhealthy', async () => {
  const web = await Web.in('predictable')
  await web.living('web-0')
  await web.ns.writeStatus('web-0', 'Running')
  await web.living('web-0', 'web-1')
  await web.ns.writeStatus('web-1', 'Running')
  await web.living('web-0', 'web-1', 'web-2')
  await web.rolledOut()
  // Unhealthy: no scaling up or down.
  await web.ns.writeStatus('web-0', 'Running', false)
  await waitFor('it to be noticed', async () => (await web.get()).status?.readyReplicas === 2)
  await web.change({ replicas: 4 })
  await waitFor('the change to be noticed', async () => (await web.get()).status?.observedGeneration === 2)
  await web.change({ replicas: 1 })
  await waitFor('the change to be noticed', async () => (await web.get()).status?.observedGeneration === 3)
  assert.deepEqual(await web.ns.living('web'), ['web-0', 'web-1', 'web-2'])
  // Scaling down, the last pod first.
  await web.ns.patch(`${web.ns.core}/pods/web-2`, { metadata: { finalizers: ['example.com/hold'] } })
  await web.ns.writeStatus('web-0', 'Running')
  await web.living('web-0', 'web-1')
  assert.deepEqual(await web.ns.names(`${web.ns.core}/pods`), ['web-0', 'web-1', 'web-2'])
  await web.ns.patch(`${web.ns.core}/pods/web-2`, { metadata: { finalizers: null } })
  await web.living('web-0')
  assert.deepEqual((await web.ns.events('web', 'SuccessfulCreate')).sort(), [
    'create Pod web-0 in StatefulSet web successful',
    'create Pod web-1 in StatefulSet web successful',
    'create Pod web-2 in StatefulSet web successful',
  ])
  await waitFor('the events', async () => (await web.ns.events('web', 'SuccessfulDelete')).length === 2)
  assert.deepEqual((await web.ns.events('web', 'SuccessfulDelete')).sort(), [
    'delete Pod web-1 in StatefulSet web successful',
    'delete Pod web-2 in StatefulSet web successful',
  ])
})

test('Burst scaling should run to completion even with unhealthy pods', async () => {
  const web = await Web.in('burst', { podManagementPolicy: 'Parallel' })
  await web.living('web-0', 'web-1', 'web-2')
  await web.ns.writeStatus('web-1', 'Running')
  await web.change({ replicas: 5 })
  await web.living('web-0', 'web-1', 'web-2', 'web-3', 'web-4')
  await web.change({ replicas: 0 })
  await web.living()
  await waitFor('the status to be 0', async () => (await web.get()).status?.replicas === 0)
})

test('Should recreate evicted statefulset', async () => {
  const web = await Web.in('evicted', { replicas: 1 })
  await web.rolledOut()
  for (const phase of ['Failed', 'Succeeded'] as const) {
    const { metadata } = await web.ns.get<StatefulSet>(`${web.ns.core}/pods/web-0`)
    await web.ns.writeStatus('web-0', phase)
    await web.ns.playUntil('web', 'another pod', async () => {
      const [pod] = await web.ns.pods('web')
      return pod && pod.metadata.uid !== metadata.uid && pod.status?.phase === 'Running'
    })
  }
})

test('should have a working scale subresource', async () => {
  const web = await Web.in('scale', { replicas: 1 })
  await web.rolledOut()
  const scale = await web.ns.get<{ spec: { replicas: number } }>(`${web.path}/scale`)
  assert.equal(scale.spec.replicas, 1)
  await web.ns.put(`${web.path}/scale`, { ...scale, spec: { replicas: 2 } })
  assert.equal((await web.rolledOut()).status?.replicas, 2)
})

test('should list, patch and delete a collection of StatefulSets', async () => {
  const web = await Web.in('collection', { replicas: 1 })
  await web.rolledOut()
  const sets = `${web.ns.apps}/statefulsets?labelSelector=app%3Dweb`
  assert.deepEqual(await web.ns.names(sets), ['web'])
  await web.ns.patch(web.path, { metadata: { labels: { test: 'patched' } }, spec: { replicas: 2 } })
  assert.equal((await web.rolledOut()).metadata.labels?.test, 'patched')
  await web.ns.delete(sets)
  await waitFor('them to be deleted', async () => (await web.ns.names(sets)).length === 0)
})

test('should perform rolling updates and roll backs of template modifications', async () => {
  const web = await Web.in('rolling')
  const first = (await web.rolledOut()).status?.updateRevision
  await web.ns.image('statefulsets', 'web', 'web:2')
  const seen: string[] = []
  await web.ns.playUntil('web', 'the update', async () => {
    const images = Object.values(await web.ns.images('web')).join(' ')
    if (seen.at(-1) !== images) seen.push(images)
    const { currentRevision, updateRevision } = (await web.get()).status ?? {}
    return updateRevision !== first && currentRevision === updateRevision
  })
  // From the last to the first, one at a time; missing ones may or may not be seen.
  for (const images of seen) assert.match(images, /^(web:1 ?)*(web:2 ?)*$/)
  const second = (await web.rolledOut()).status?.updateRevision
  assert.notEqual(second, first)
  // Rollback: the first revision gets a higher number.
  await web.ns.image('statefulsets', 'web', 'web:1')
  assert.equal(
    (
      await web.ns.playUntil('web', 'the way back', async () => {
        const set = await web.get()
        return set.status?.currentRevision === first && set.status?.readyReplicas === 3 && set
      })
    ).status?.updateRevision,
    first,
  )
  assert.deepEqual(
    (await web.ns.revisions('web')).map(({ metadata, revision }) => [metadata.name, revision]),
    [
      [second, 2],
      [first, 3],
    ],
  )
})

test('should perform canary updates and phased rolling updates of template modifications', async () => {
  const web = await Web.in('canary', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } })
  await web.rolledOut()
  const images = (...expected: string[]) =>
    web.ns.playUntil('web', `the images ${expected}`, async () => {
      const { status } = await web.get()
      return status?.readyReplicas === 3 && Object.values(await web.ns.images('web')).join() === expected.join()
    })
  const partition = (at: number) => web.change({ updateStrategy: { rollingUpdate: { partition: at } } })
  await web.ns.image('statefulsets', 'web', 'web:2')
  await waitFor('the new revision', async () => (await web.ns.revisions('web')).length === 2)
  await images('web:1', 'web:1', 'web:1')
  await partition(2)
  await images('web:1', 'web:1', 'web:2')
  assert.equal((await web.get()).status?.updatedReplicas, 1)
  // Deleted pods are recreated at their revision.
  for (const pod of ['web-0', 'web-2']) await web.ns.delete(`${web.ns.core}/pods/${pod}`)
  await images('web:1', 'web:1', 'web:2')
  await partition(0)
  await images('web:2', 'web:2', 'web:2')
  await web.rolledOut()
})

test('should validate Statefulset Status endpoints', async () => {
  const web = await Web.in('status', { replicas: 1 })
  const set = await web.rolledOut()
  const condition = { type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'Set from e2e test' }
  await web.ns.put(`${web.path}/status`, { ...set, status: { ...set.status, conditions: [condition] } })
  assert.equal((await web.get()).status?.conditions?.[0]?.reason, 'E2E')
  await web.ns.patch(`${web.path}/status`, { status: { conditions: [{ type: 'StatusPatched', status: 'True' }] } })
  await web.change({ replicas: 2 })
  // Status fields of others are retained.
  assert.deepEqual(
    (await web.rolledOut()).status?.conditions?.map(({ type }) => type),
    ['StatusPatched'],
  )
})

test('with OnDelete pods are replaced when the user deletes them', async () => {
  const web = await Web.in('on-delete', { replicas: 2, updateStrategy: { type: 'OnDelete' } })
  const ready = () => web.ns.playUntil('web', 'two pods', async () => (await web.get()).status?.readyReplicas === 2)
  await ready()
  await web.ns.image('statefulsets', 'web', 'web:2')
  await waitFor('the new revision', async () => (await web.ns.revisions('web')).length === 2)
  await web.ns.delete(`${web.ns.core}/pods/web-0`)
  await web.ns.playUntil(
    'web',
    'the pod to be recreated',
    async () => (await web.ns.living('web')).length === 2 && (await web.get()).status?.updatedReplicas === 1,
  )
  assert.deepEqual(await web.ns.images('web'), { 'web-0': 'web:2', 'web-1': 'web:1' })
})

test('claims of pods are retained or deleted by the retention policy', async () => {
  const web = await Web.in('claims', {
    replicas: 2,
    volumeClaimTemplates: [data],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
  })
  await web.rolledOut()
  const owners = async () =>
    (await web.ns.claims()).map(
      ({ metadata }) =>
        `${metadata.name} ${metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`) ?? ''}`,
    )
  assert.deepEqual(await owners(), ['data-web-0 StatefulSet web', 'data-web-1 StatefulSet web'])
  assert.ok(
    (await web.ns.events('web', 'SuccessfulCreate')).includes(
      'create Claim data-web-0 Pod web-0 in StatefulSet web success',
    ),
  )
  await web.ns.patch(`${web.ns.core}/pods/web-1`, { metadata: { finalizers: ['example.com/hold'] } })
  await web.change({
    replicas: 1,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' },
  })
  await web.living('web-0')
  await waitFor('the owners', async () => (await owners()).join() === 'data-web-0 ,data-web-1 Pod web-1')
})

test('ordinals may start at any number', async () => {
  const web = await Web.in('start', { replicas: 2, ordinals: { start: 5 } })
  await web.rolledOut()
  const pods = await web.ns.pods('web')
  assert.deepEqual(
    pods.map(({ metadata, spec }) => [
      metadata.name,
      metadata.labels?.['apps.kubernetes.io/pod-index'],
      spec?.hostname,
      spec?.subdomain,
    ]),
    [
      ['web-5', '5', 'web-5', 'web'],
      ['web-6', '6', 'web-6', 'web'],
    ],
  )
})

test('maxUnavailable allows replacing several pods at a time', async () => {
  const web = await Web.in('max-unavailable', {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
  })
  await web.rolledOut()
  for (const pod of ['web-0', 'web-1', 'web-2'])
    await web.ns.patch(`${web.ns.core}/pods/${pod}`, { metadata: { finalizers: ['example.com/hold'] } })
  await web.ns.image('statefulsets', 'web', 'web:2')
  await web.living('web-0')
  for (const pod of ['web-0', 'web-1', 'web-2'])
    await web.ns.patch(`${web.ns.core}/pods/${pod}`, { metadata: { finalizers: null } })
  await web.rolledOut()
})

test('a ready pod must become available before the next', async () => {
  const web = await Web.in('available', { replicas: 2, minReadySeconds: 3600 })
  await web.living('web-0')
  await web.ns.writeStatus('web-0', 'Running')
  const { status } = await waitFor('it to be ready', async () => {
    const set = await web.get()
    return set.status?.readyReplicas === 1 && set
  })
  assert.equal(status?.availableReplicas, 0)
  assert.deepEqual(await web.ns.living('web'), ['web-0'])
  await web.change({ minReadySeconds: 1 })
  await web.living('web-0', 'web-1')
  await waitFor('it to be available', async () => (await web.get()).status?.availableReplicas === 1)
})

test('matching orphans are adopted and others released', async () => {
  const web = await Web.in('orphans', { replicas: 1 })
  await web.rolledOut()
  await web.ns.patch(`${web.ns.core}/pods/web-0`, { metadata: { labels: { app: 'other' } } })
  await waitFor('it to be released', async () => {
    const { metadata } = await web.ns.get<StatefulSet>(`${web.ns.core}/pods/web-0`)
    return !metadata.ownerReferences
  })
  await web.ns.patch(`${web.ns.core}/pods/web-0`, { metadata: { labels: { app: 'web' } } })
  await waitFor(
    'it to be adopted',
    async () =>
      (await web.ns.get<StatefulSet>(`${web.ns.core}/pods/web-0`)).metadata.ownerReferences?.[0]?.name === 'web',
  )
})

test('orphaned pods are adopted by the next set of that name', async () => {
  const web = await Web.in('again', { replicas: 2 })
  const { status } = await web.rolledOut()
  const before = (await web.ns.pods('web')).map(({ metadata }) => metadata.uid)
  // Without garbage collection the test orphans the dependents.
  await web.ns.delete(web.path)
  await waitFor('it to be deleted', async () => !(await web.ns.exists(web.path)))
  for (const collection of [`${web.ns.core}/pods`, `${web.ns.apps}/controllerrevisions`]) {
    for (const name of await web.ns.names(collection))
      await web.ns.patch(`${collection}/${name}`, { metadata: { ownerReferences: null } })
  }
  await web.ns.post(`${web.ns.apps}/statefulsets`, setOf({ replicas: 2 }))
  assert.equal((await web.rolledOut()).status?.currentRevision, status?.currentRevision)
  const after = await web.ns.pods('web')
  assert.deepEqual(
    after.map(({ metadata }) => metadata.uid),
    before,
  )
  assert.deepEqual(
    new Set([...after, ...(await web.ns.revisions('web'))].map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)),
    new Set([(await web.get()).metadata.uid]),
  )
})

test('failed creations are reported and retried', async () => {
  const spec = { serviceAccountName: 'late', containers: [{ name: 'c', image: 'web:1' }] }
  const web = await Web.in('refused', { replicas: 1, template: { metadata: { labels: { app: 'web' } }, spec } })
  const [message] = await waitFor('the event', async () => {
    const messages = await web.ns.events('web', 'FailedCreate')
    return messages.length > 0 && messages
  })
  assert.equal(
    message,
    'create Pod web-0 in StatefulSet web failed error: pods "web-0" is forbidden: error looking up service ' +
      'account refused/late: serviceaccount "late" not found',
  )
  await web.ns.post(`${web.ns.core}/serviceaccounts`, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'late' },
  })
  await web.rolledOut()
})

test('old revisions beyond the limit are deleted', async () => {
  const web = await Web.in('limit', { replicas: 1, revisionHistoryLimit: 1 })
  await web.rolledOut()
  for (const tag of [2, 3, 4]) {
    await web.ns.image('statefulsets', 'web', `web:${tag}`)
    await waitFor('the new revision', async () => (await web.get()).status?.observedGeneration === tag)
    await web.rolledOut()
  }
  await waitFor(
    'the old ones to be deleted',
    async () => (await web.ns.revisions('web')).map(({ revision }) => revision).join() === '3,4',
  )
})
