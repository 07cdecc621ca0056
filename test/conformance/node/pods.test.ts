/**
 * Tests of the conformance suite for the life of pods
 * (`test/e2e/common/node/{pods,ephemeral_containers}.go`, `node/pods.go`), on simulated nodes.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Pod } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { pod, podWhen, running, started } from '../support/pods.ts'
import { Requests, refused } from '../support/requests.ts'

const cluster = testCluster({ after }, { nodes: 1 })
const requests = async (namespace: string): Promise<Requests> => Requests.in(await cluster, namespace)

test('Pods should get a host IP', async () => {
  const api = await requests('host-ip')
  const { status } = await started(api, 'pod-hostip')
  assert.match(status?.hostIP ?? '', /^\d+\.\d+\.\d+\.\d+$/)
  assert.deepEqual(status?.hostIPs?.[0], { ip: status?.hostIP })
})

test('Pods should be submitted and removed', async () => {
  const api = await requests('submitted')
  const selected = `${api.core}/pods?labelSelector=time%3D1`
  const before = await api.get<{ items: Pod[]; metadata: { resourceVersion: string } }>(selected)
  assert.deepEqual(before.items, [])
  const watched = await api.watch<Pod>(`${api.core}/pods`, {
    labelSelector: 'time=1',
    resourceVersion: before.metadata.resourceVersion,
  })
  try {
    await api.post(`${api.core}/pods`, pod('submit-remove', {}, { name: 'foo', time: '1' }))
    assert.equal((await api.list(selected)).length, 1)
    await running(api, 'submit-remove')
    assert.equal(watched.events[0]?.type, 'ADDED')
    await api.delete(`${api.core}/pods/submit-remove`, { gracePeriodSeconds: 30 })
    const last = await watched.next('the deletion', ({ type }) => type === 'DELETED')
    assert.ok(last.metadata.deletionTimestamp)
    assert.ok(last.spec?.terminationGracePeriodSeconds)
    assert.deepEqual(await api.list(selected), [])
    const terminating = watched.events.findIndex(({ object }) => object.metadata.deletionTimestamp)
    assert.equal(watched.events[terminating]?.type, 'MODIFIED')
  } finally {
    watched.stop()
  }
})

test('Pods should be updated', async () => {
  const api = await requests('updated')
  await started(api, 'pod-update', {}, { time: '1' })
  await api.update(`${api.core}/pods/pod-update`, (it) => ({
    ...it,
    metadata: { ...it.metadata, labels: { time: '2' } },
  }))
  await running(api, 'pod-update')
  assert.equal((await api.list(`${api.core}/pods?labelSelector=time%3D2`)).length, 1)
})

test('Pods should allow activeDeadlineSeconds to be updated', async () => {
  const api = await requests('deadline')
  await started(api, 'pod-deadline')
  await api.update<Pod>(`${api.core}/pods/pod-deadline`, (it) => ({
    ...it,
    spec: { ...it.spec, activeDeadlineSeconds: 1 },
  }))
  const { status } = await podWhen(api, 'pod-deadline', 'over', ({ status }) => status?.phase === 'Failed')
  assert.equal(status?.reason, 'DeadlineExceeded')
})

test('Pods should delete a collection of pods', async () => {
  const api = await requests('pod-collection')
  const set = `${api.core}/pods?labelSelector=type%3DTesting`
  for (const name of ['test-pod-1', 'test-pod-2', 'test-pod-3']) {
    await api.post(
      `${api.core}/pods`,
      pod(name, { terminationGracePeriodSeconds: 1, restartPolicy: 'Never' }, { type: 'Testing' }),
    )
  }
  await waitFor(
    'three to run',
    async () => (await api.list<Pod>(set)).filter(({ status }) => status?.phase === 'Running').length === 3,
  )
  await api.delete(set, { gracePeriodSeconds: 1 })
  await waitFor('them to go', async () => (await api.list(set)).length === 0)
})

test('Pods should run through the lifecycle of Pods and PodStatus', async () => {
  const api = await requests('pod-life')
  const path = `${api.core}/pods/pod-test`
  const selected = 'labelSelector=test-pod-static%3Dtrue'
  const { metadata } = await api.get(`/api/v1/pods?${selected}`)
  const watched = await api.watch<Pod>(`${api.core}/pods`, {
    labelSelector: 'test-pod-static=true',
    resourceVersion: metadata.resourceVersion ?? '',
  })
  try {
    await api.post(
      `${api.core}/pods`,
      pod('pod-test', { terminationGracePeriodSeconds: 1 }, { 'test-pod-static': 'true' }),
    )
    await watched.next('it to run', ({ object }) => object.status?.phase === 'Running')
    assert.equal((await api.get<Pod>(path)).status?.phase, 'Running')
    const patch = {
      metadata: { creationTimestamp: null, labels: { 'test-pod': 'patched' } },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'agnhost', image: 'httpd:1', resources: {} }] },
      status: {},
    }
    await api.patch(path, patch, 'strategic')
    await watched.next(
      'the patch',
      ({ type, object }) => type === 'MODIFIED' && object.metadata.labels?.['test-pod'] === 'patched',
    )
    const patched = await api.get<Pod>(path)
    assert.deepEqual(
      [patched.metadata.labels?.['test-pod'], patched.spec?.containers[0]?.image],
      ['patched', 'httpd:1'],
    )
    const isReadiness = (type: string) => type === 'Ready' || type === 'ContainersReady'
    const unready = await api.update<Pod>(
      `${path}/status`,
      (it) => {
        const conditions = it.status?.conditions ?? []
        assert.equal(conditions.filter(({ type, status }) => isReadiness(type) && status === 'True').length, 2)
        return {
          ...it,
          status: {
            ...it.status,
            conditions: conditions.map((one) => (isReadiness(one.type) ? { ...one, status: 'False' } : one)),
          },
        }
      },
      `${path}/status`,
    )
    assert.equal(
      unready.status?.conditions?.filter(({ type, status }) => isReadiness(type) && status === 'False').length,
      2,
    )
    await api.delete(`${api.core}/pods?${selected}`, { gracePeriodSeconds: 1 })
    await watched.next('the deletion', ({ type }) => type === 'DELETED')
    await refused(404, api.get(path))
  } finally {
    watched.stop()
  }
})

test('Pods should patch a pod status', async () => {
  const api = await requests('pod-status')
  await started(api, 'pod', { terminationGracePeriodSeconds: 1 })
  const status = { message: 'Patched by e2e test', reason: 'E2E' }
  const patched = await api.patch<Pod>(`${api.core}/pods/pod/status`, {
    metadata: { annotations: { patchedstatus: 'true' } },
    status,
  })
  assert.deepEqual(
    [patched.status?.message, patched.status?.reason, patched.status?.phase],
    [status.message, status.reason, 'Running'],
  )
})

test(
  'Pods Extended Pods Set QOS Class should be set on Pods with matching resource requests and limits for memory ' +
    'and cpu',
  async () => {
    const api = await requests('qos')
    const resources = { cpu: '100m', memory: '100Mi' }
    const created = await api.post<Pod>(
      `${api.core}/pods`,
      pod('qos', { containers: [{ name: 'c', image: 'i:1', resources: { requests: resources, limits: resources } }] }),
    )
    assert.equal(created.status?.qosClass, 'Guaranteed')
    assert.equal((await api.get<Pod>(`${api.core}/pods/qos`)).status?.qosClass, 'Guaranteed')
  },
)

const observed = (api: Requests, name: string, generation: number): Promise<Pod> =>
  podWhen(api, name, `observed at ${generation}`, ({ status }) => status?.observedGeneration === generation)

test(
  'Pods Extended (pod generation) Pod Generation pod generation ' + 'should start at 1 and increment per update',
  async () => {
    const api = await requests('generation')
    const path = `${api.core}/pods/generation`
    const { metadata } = await started(api, 'generation', { initContainers: [{ name: 'init', image: 'busybox:1' }] })
    assert.equal(metadata.generation, 1)
    const toleration = { key: 'foo', operator: 'Equal', value: 'bar', effect: 'NoSchedule' }
    const changes: readonly (readonly [(pod: Pod) => object, boolean])[] = [
      [(it) => it, false],
      // The default tolerations remain, and the new one is added.
      [(it) => ({ ...it, spec: { ...it.spec, tolerations: [toleration, ...(it.spec?.tolerations ?? [])] } }), true],
      [(it) => ({ ...it, spec: { ...it.spec, activeDeadlineSeconds: 5000 } }), true],
      [
        (it) => ({
          ...it,
          spec: { ...it.spec, containers: it.spec?.containers.map((one) => ({ ...one, image: 'nginx:1' })) },
        }),
        true,
      ],
      [
        (it) => ({
          ...it,
          spec: { ...it.spec, initContainers: it.spec?.initContainers?.map((one) => ({ ...one, image: 'pause:1' })) },
        }),
        true,
      ],
      [(it) => ({ ...it, metadata: { ...it.metadata, annotations: { key: 'value' } } }), false],
      [(it) => ({ ...it, metadata: { ...it.metadata, generation: 1 } }), false],
    ]
    let expected = 1
    for (const [change, bumps] of changes) {
      await api.update<Pod>(path, change)
      if (bumps) expected++
      assert.equal((await api.get(path)).metadata.generation, expected)
      await observed(api, 'generation', expected)
    }
  },
)

test(
  'Pods Extended (pod generation) Pod Generation custom-set ' + 'generation on new pods and graceful delete',
  async () => {
    const api = await requests('generation-delete')
    const path = `${api.core}/pods/generation`
    const made = pod('generation')
    const created = await api.post(`${api.core}/pods`, { ...made, metadata: { ...made.metadata, generation: 100 } })
    assert.equal(created.metadata.generation, 1)
    await running(api, 'generation')
    const deleted = await api.delete<Pod>(`${path}?gracePeriodSeconds=60`)
    assert.equal(deleted.metadata.generation, 2)
  },
)

test(
  'Pods Extended (pod generation) Pod Generation issue 500 podspec updates and verify generation and ' +
    'observedGeneration eventually converge',
  async () => {
    const api = await requests('generation-500')
    await started(api, 'generation', { activeDeadlineSeconds: 5000 })
    for (let seconds = 4999; seconds > 4500; seconds--)
      await api.patch(`${api.core}/pods/generation`, { spec: { activeDeadlineSeconds: seconds } }, 'strategic')
    const { metadata } = await observed(api, 'generation', 500)
    assert.equal(metadata.generation, 500)
  },
)

test('Pod InPlace Resize Container resize pod via the replace endpoint', async () => {
  const api = await requests('resize')
  const path = `${api.core}/pods/resized`
  const container = (cpu: string, memory: string) => ({
    name: 'c1',
    image: 'busybox:1',
    resources: { requests: { cpu, memory } },
  })
  const { metadata } = await started(api, 'resized', { containers: [container('20m', '20Mi')] })
  assert.equal(metadata.generation, 1)
  const wanted = { cpu: '25m', memory: '30Mi' }
  const resized = await api.update<Pod>(
    path,
    (it) => ({
      ...it,
      spec: { ...it.spec, containers: it.spec?.containers.map((one) => ({ ...one, resources: { requests: wanted } })) },
    }),
    `${path}/resize`,
  )
  assert.deepEqual([resized.metadata.generation, resized.spec?.containers[0]?.resources?.requests], [2, wanted])
  const actuated = await podWhen(
    api,
    'resized',
    'resized',
    ({ status }) =>
      status?.observedGeneration === 2 && status.containerStatuses?.[0]?.resources?.requests?.cpu === '25m',
  )
  assert.deepEqual(actuated.status?.containerStatuses?.[0]?.allocatedResources, wanted)
  assert.ok(!actuated.status?.conditions?.some(({ type }) => type.startsWith('PodResize')))
  assert.deepEqual(await api.get(`${path}/resize`), await api.get(path))
})

const debuggerContainer = (name: string) => ({
  name,
  image: 'busybox:1',
  command: ['sh'],
  stdin: true,
  tty: true,
  resources: {},
})

test(
  'Ephemeral Containers will start an ephemeral container in an existing pod, and should update the ephemeral ' +
    'containers in an existing pod',
  async () => {
    const api = await requests('ephemeral')
    const path = `${api.core}/pods/ephemeral`
    await started(api, 'ephemeral')
    await api.patch(
      `${path}/ephemeralcontainers`,
      { spec: { ephemeralContainers: [debuggerContainer('debugger')] } },
      'strategic',
    )
    const isRunning = (name: string) => (it: Pod) =>
      Boolean(it.status?.ephemeralContainerStatuses?.find((one) => one.name === name)?.state?.running)
    const one = await podWhen(api, 'ephemeral', 'debugged', isRunning('debugger'))
    assert.equal(one.spec?.ephemeralContainers?.length, 1)
    const two = await api.update<Pod>(
      path,
      (it) => ({
        ...it,
        spec: {
          ...it.spec,
          ephemeralContainers: [...(it.spec?.ephemeralContainers ?? []), debuggerContainer('debugger2')],
        },
      }),
      `${path}/ephemeralcontainers`,
    )
    assert.deepEqual(
      [two.metadata.generation, two.spec?.ephemeralContainers?.map(({ name }) => name)],
      [3, ['debugger', 'debugger2']],
    )
    await podWhen(api, 'ephemeral', 'debugged twice', isRunning('debugger2'))
  },
)
