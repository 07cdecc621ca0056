/**
 * Conformance tests of ReplicaSets and ReplicationControllers (`test/e2e/apps/{replica_set,rc}.go`).
 * The test simulates the kubelet.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Pod, ReplicaSet, ReplicationController } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { controllerName, Workloads } from './workloads.ts'

const cluster = testCluster({ after }, { controllers: ['replicaset', 'replicationcontroller', 'serviceaccount'] })
const workloads = async (name: string): Promise<Workloads> => await Workloads.in(await cluster, name)

interface SetKind {
  readonly name: string
  readonly path: (all: Workloads) => string
  readonly make: (all: Workloads, name: string, spec?: object) => Promise<ReplicaSet | ReplicationController>
  readonly get: (all: Workloads, name: string) => Promise<ReplicaSet | ReplicationController>
}

const kinds: readonly SetKind[] = [
  {
    name: 'ReplicaSet',
    path: ({ apps }) => `${apps}/replicasets`,
    make: (all, name, spec) => all.makeReplicaSet(name, spec),
    get: (all, name) => all.replicaSet(name),
  },
  {
    name: 'ReplicationController',
    path: ({ core }) => `${core}/replicationcontrollers`,
    make: (all, name, spec) => all.makeController(name, spec),
    get: (all, name) => all.controller(name),
  },
]

const namesOf = (pods: readonly Pod[]): (string | undefined)[] => pods.map(({ metadata }) => metadata.name).sort()

for (const { name: kind, path, make, get } of kinds) {
  const namespaceFor = (what: string): Promise<Workloads> => workloads(`${kind.toLowerCase()}-${what}`)

  test(`${kind} Replace and Patch tests: size and status follow`, async () => {
    const all = await namespaceFor('replace')
    await make(all, 'web', { replicas: 1 })
    const available = (count: number) =>
      all.playKubelet('web', `${count} pods`, async () => (await get(all, 'web')).status?.availableReplicas === count)
    await available(1)
    await all.patch(`${path(all)}/web`, { spec: { replicas: 3 } })
    await available(3)
    const created = await waitFor('the events', async () => {
      const messages = await all.events('web', 'SuccessfulCreate')
      return messages.length === 3 && messages
    })
    assert.deepEqual(
      created.toSorted(),
      namesOf(await all.pods('web')).map((pod) => `Created pod: ${pod}`),
    )
    const [, first] = namesOf(await all.pods('web'))
    await all.patch(`${all.core}/pods/${first}`, {
      metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-1' } },
    })
    await all.patch(`${path(all)}/web/scale`, { spec: { replicas: 2 } })
    await waitFor('the pod to go', async () => (await all.pods('web')).length === 2)
    assert.deepEqual(
      await waitFor('the event', async () => (await all.events('web', 'SuccessfulDelete'))[0]),
      `Deleted pod: ${first}`,
    )
    const { metadata, status } = await waitFor('the status', async () => {
      const set = await get(all, 'web')
      return set.status?.replicas === 2 && set.status.observedGeneration === set.metadata.generation && set
    })
    // A ReplicationController does not count terminating pods.
    const terminating = kind === 'ReplicaSet' ? { terminatingReplicas: 0 } : {}
    assert.deepEqual(status, {
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      ...terminating,
      observedGeneration: metadata.generation,
    })
  })

  test(`${kind} should adopt matching pods on creation and release no longer matching pods`, async () => {
    const all = await namespaceFor('adopt')
    await all.makePod('stray', 'web')
    await make(all, 'web', { replicas: 1 })
    const [adopted] = await waitFor('the adoption', async () => {
      const pods = await all.pods('web')
      return pods.every((pod) => controllerName(pod) === 'web') && pods
    })
    assert.equal(adopted?.metadata.name, 'stray')
    await all.patch(`${all.core}/pods/stray`, { metadata: { labels: { app: 'loose' } } })
    await waitFor('the release', async () =>
      (await all.pods('loose')).every((pod) => controllerName(pod) === undefined),
    )
    const [next, ...more] = await waitFor('the next pod', async () => {
      const pods = await all.pods('web')
      return pods.length > 0 && pods
    })
    assert.equal(more.length, 0)
    assert.equal(controllerName(next!), 'web')
  })

  test(`${kind} should surface a failure condition on a common issue like exceeded quota`, async () => {
    const all = await namespaceFor('quota')
    const hard = { pods: '2' }
    await all.post(`${all.core}/resourcequotas`, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'few' },
      spec: { hard },
    })
    await all.patch(`${all.core}/resourcequotas/few/status`, { status: { hard, used: { pods: '0' } } })
    await make(all, 'web', { replicas: 3 })
    const condition = await waitFor('the failure', async () =>
      (await get(all, 'web')).status?.conditions?.find(({ type }) => type === 'ReplicaFailure'),
    )
    assert.deepEqual([condition.status, condition.reason], ['True', 'FailedCreate'])
    assert.match(condition.message ?? '', /exceeded quota: few/)
    assert.match(
      (await waitFor('the event', async () => (await all.events('web', 'FailedCreate'))[0])) ?? '',
      /^Error creating: pods "web-.* is forbidden: exceeded quota/,
    )
    await all.patch(`${path(all)}/web`, { spec: { replicas: 2 } })
    await waitFor(
      'the failure to go',
      async () => !(await get(all, 'web')).status?.conditions?.some(({ type }) => type === 'ReplicaFailure'),
    )
  })

  test(`a ${kind} replaces pods that failed or were deleted`, async () => {
    const all = await namespaceFor('failed')
    await make(all, 'web', { replicas: 2 })
    const [first, second] = await waitFor('its pods', async () => {
      const pods = namesOf(await all.pods('web'))
      return pods.length === 2 && pods
    })
    await all.writeStatus(first ?? '', 'Failed', false)
    await all.delete(`${all.core}/pods/${second}`)
    const pods = await waitFor('new ones', async () => {
      const pods = namesOf(await all.pods('web'))
      return pods.length === 3 && pods
    })
    assert.deepEqual([pods.includes(first), pods.includes(second)], [true, false])
  })

  test(`pods of a ${kind} are available only after minReadySeconds`, async () => {
    const all = await namespaceFor('available')
    await make(all, 'web', { replicas: 1, minReadySeconds: 2 })
    await all.playKubelet('web', 'the pod', async () => (await get(all, 'web')).status?.readyReplicas === 1)
    assert.equal((await get(all, 'web')).status?.availableReplicas, undefined)
    await waitFor('it to be available', async () => (await get(all, 'web')).status?.availableReplicas === 1)
  })
}

test('ReplicaSet should list and delete a collection of ReplicaSets', async () => {
  const all = await workloads('collection')
  for (const name of ['a', 'b', 'c']) await all.makeReplicaSet(name, { replicas: 0 })
  assert.equal((await all.list(`${all.apps}/replicasets?labelSelector=app%3Db`)).length, 1)
  await all.delete(`${all.apps}/replicasets?labelSelector=app+in+(a,b)`)
  const left = await waitFor('them to go', async () => {
    const sets = await all.list<ReplicaSet>(`${all.apps}/replicasets`)
    return sets.length === 1 && sets
  })
  assert.equal(left[0]?.metadata.name, 'c')
})
