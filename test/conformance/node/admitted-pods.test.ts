/**
 * Tests of the conformance suite for pods that are rejected, bound or evicted
 * (`test/e2e/common/node/{runtimeclass,sysctl}.go`, `node/taints.go`), on simulated nodes.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Node, Pod } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { pod, podWhen, started } from '../support/pods.ts'
import { Requests, refused } from '../support/requests.ts'

const cluster = testCluster({ after }, { nodes: 2 })
const requests = async (namespace: string): Promise<Requests> => Requests.in(await cluster, namespace)

test('Conformance Tests should have at least two untainted nodes', async () => {
  const api = await requests('untainted')
  await waitFor('two nodes without taints', async () => {
    const nodes = await api.list<Node>('/api/v1/nodes')
    return nodes.filter(({ spec }) => !spec?.taints?.length && !spec?.unschedulable).length === 2
  })
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
    // The deadline of another pod, which is later, shows that the time of the toleration is over.
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
