/**
 * Tests of the conformance suite for pods
 * (`test/e2e/common/node/{pods,ephemeral_containers,init_container,runtimeclass,sysctl}.go`, `node/{pods,taints}.go`),
 * on simulated nodes.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Node, Pod } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Requests, refused } from '../support/requests.ts'

const cluster = testCluster({ after }, { nodes: 2 })
const requests = async (namespace: string): Promise<Requests> => Requests.in(await cluster, namespace)

const pod = (name: string, spec: object = {}, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, creationTimestamp: null, labels },
  spec: { containers: [{ name: 'agnhost', image: 'agnhost:1', resources: {} }], ...spec },
  status: {},
})

/** Resolves with the pod when something holds for it. */
const podWhen = (api: Requests, name: string, what: string, is: (pod: Pod) => boolean): Promise<Pod> =>
  waitFor(`${name} to be ${what}`, async () => {
    const found = await api.get<Pod>(`${api.core}/pods/${name}`)
    return is(found) && found
  })
const running = (api: Requests, name: string): Promise<Pod> =>
  podWhen(api, name, 'running', ({ status }) => status?.phase === 'Running')

async function started(api: Requests, name: string, spec?: object, labels?: Record<string, string>): Promise<Pod> {
  await api.post(`${api.core}/pods`, pod(name, spec, labels))
  return running(api, name)
}

test('Conformance Tests should have at least two untainted nodes', async () => {
  const api = await requests('untainted')
  await waitFor('two nodes without taints', async () => {
    const nodes = await api.list<Node>('/api/v1/nodes')
    return nodes.filter(({ spec }) => !spec?.taints?.length && !spec?.unschedulable).length === 2
  })
})

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
      // The tolerations of every pod are not kept in the object that is put: they stay all the same, and the new one
      // comes.
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

test('InitContainer should invoke init containers on a RestartAlways pod', async () => {
  const api = await requests('init-containers')
  const initContainers = ['init1', 'init2'].map((name) => ({ name, image: 'busybox:1', command: ['/bin/true'] }))
  const { status } = await started(api, 'pod-init', { initContainers })
  assert.equal(status?.conditions?.find(({ type }) => type === 'Initialized')?.status, 'True')
  assert.deepEqual(
    status?.initContainerStatuses?.map(({ ready, state }) => [ready, state?.terminated?.exitCode]),
    [
      [true, 0],
      [true, 0],
    ],
  )
})

test('Sysctls should reject invalid sysctls', async () => {
  const api = await requests('sysctls')
  const sysctls = ['kernel.shmmax', 'foo-', 'kernel.shmmax.', 'bar..', ''].map((name) => ({
    name,
    value: name ? '10000000' : '',
  }))
  const message = await refused(422, api.post(`${api.core}/pods`, pod('sysctl', { securityContext: { sysctls } })))
  for (const wrong of [
    'Invalid value: \\"foo-\\"',
    'Invalid value: \\"kernel.shmmax.\\"',
    'Invalid value: \\"bar..\\"',
  ])
    assert.ok(message.includes(wrong), message)
  assert.ok(!message.includes('\\"kernel.shmmax\\"'), message)
})

async function runtimeClass(api: Requests, name: string, more: object = {}): Promise<void> {
  await api.post('/apis/node.k8s.io/v1/runtimeclasses', {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name },
    handler: 'handler',
    ...more,
  })
}

/** Returns the pattern by which the suite recognizes the rejection of a pod. */
const rejected = (name: string) =>
  new RegExp(`pods \\\\"rejected\\\\" is forbidden: pod rejected: RuntimeClass \\\\"${name}\\\\" not found`)

test('RuntimeClass should reject a Pod requesting a non-existent, or a deleted RuntimeClass', async () => {
  const api = await requests('no-runtime')
  const make = (runtimeClassName: string) => api.post(`${api.core}/pods`, pod('rejected', { runtimeClassName }))
  assert.match(await refused(403, make('nonexistent')), rejected('nonexistent'))
  await runtimeClass(api, 'delete-me')
  await api.delete('/apis/node.k8s.io/v1/runtimeclasses/delete-me')
  await api.gone('/apis/node.k8s.io/v1/runtimeclasses/delete-me')
  await waitFor('the rejection', async () =>
    make('delete-me').then(
      () => api.delete(`${api.core}/pods/rejected?gracePeriodSeconds=0`).then(() => false),
      (error) => rejected('delete-me').test(String(error)),
    ),
  )
})

for (const [what, overhead] of [
  ['without PodOverhead', undefined],
  ['and initialize its Overhead', { podFixed: { cpu: '10m', memory: '1Mi' } }],
] as const)
  test(`RuntimeClass should schedule a Pod requesting a RuntimeClass ${what}`, async () => {
    const name = `runtime-${overhead ? 'with' : 'without'}`
    const api = await requests(name)
    await runtimeClass(api, name, { overhead })
    await waitFor('the class to be known', () =>
      api.post(`${api.core}/pods`, pod('scheduled', { runtimeClassName: name })),
    )
    const { spec } = await podWhen(api, 'scheduled', 'scheduled', ({ spec }) => spec?.nodeName !== undefined)
    assert.deepEqual(spec?.overhead, overhead?.podFixed)
  })

const taint = { key: 'kubernetes.io/e2e-evict-taint-key', value: 'evictTaintVal', effect: 'NoExecute' }
const tolerated = (tolerationSeconds: number) => ({
  tolerations: [{ key: taint.key, value: taint.value, effect: taint.effect, tolerationSeconds }],
})

async function tainted(api: Requests, node: string | undefined, taints: readonly object[]): Promise<void> {
  await api.update<Node>(`/api/v1/nodes/${node}`, (it) => ({ ...it, spec: { ...it.spec, taints } }))
}

test('NoExecuteTaintManager Single Pod removing taint cancels eviction', async () => {
  const api = await requests('taint-single')
  const { spec } = await started(api, 'taint-eviction-4', tolerated(2))
  await tainted(api, spec?.nodeName, [{ ...taint, timeAdded: new Date().toISOString().replace(/\.\d+/, '') }])
  // Another pod of the node, which is evicted immediately, shows that the taint has been processed.
  await api.post(`${api.core}/pods`, pod('at-once', { nodeName: spec?.nodeName }))
  await api.gone(`${api.core}/pods/at-once`)
  await tainted(api, spec?.nodeName, [])
  const watched = await api.watch<Pod>(`${api.core}/pods`)
  try {
    // Until its time would have been up, as a pod shows that goes two seconds later.
    await started(api, 'later', { activeDeadlineSeconds: 3 })
    await podWhen(api, 'later', 'over', ({ status }) => status?.phase === 'Failed')
    assert.ok(
      !watched.events.some(
        ({ object }) => object.metadata.name === 'taint-eviction-4' && object.metadata.deletionTimestamp,
      ),
    )
  } finally {
    watched.stop()
  }
})

test('NoExecuteTaintManager Multiple Pods evicts pods with minTolerationSeconds', async () => {
  const api = await requests('taint-multiple')
  const first = await started(api, 'taint-eviction-b1', tolerated(1))
  const node = first.spec?.nodeName
  await started(api, 'taint-eviction-b2', { ...tolerated(3), nodeSelector: { 'kubernetes.io/hostname': node } })
  await tainted(api, node, [taint])
  await api.gone(`${api.core}/pods/taint-eviction-b1`)
  assert.equal((await api.get(`${api.core}/pods/taint-eviction-b2`)).metadata.deletionTimestamp, undefined)
  await api.gone(`${api.core}/pods/taint-eviction-b2`)
  await tainted(api, node, [])
})
