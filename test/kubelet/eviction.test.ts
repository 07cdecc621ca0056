/** Evictions of pods that exceed limits of local storage, and of pods on a node under pressure, on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events, nodes, type Pod } from '../../src/client/kinds.ts'
import type { PodStatus } from '../../src/kubelet/pod-types.ts'
import { type Lifetime, reachable } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { type NewPod, shell, TestNode } from './support/test-node.ts'

/** Volumes are measured often. */
const configuration = { volumeStatsAggPeriod: '1s' }
const write = (path: string): string => `dd if=/dev/zero of=${path} bs=1M count=3; sleep 3600`
const limited = (limit: string) => ({ resources: { limits: { 'ephemeral-storage': limit } } })

/** Pods that exceed a limit, and the message of their eviction. */
const greedy: readonly (readonly [pod: NewPod, message: string])[] = [
  [
    {
      name: 'volume',
      script: write('/data/file'),
      volumes: [{ name: 'data', emptyDir: { sizeLimit: '1Mi' } }],
      container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
    },
    'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ',
  ],
  [
    { name: 'pod', script: write('/file'), container: limited('1Mi') },
    'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ',
  ],
  [
    {
      name: 'container',
      containers: [shell('main', write('/file'), limited('1Mi')), shell('idle', 'sleep 3600', limited('100Mi'))],
    },
    'Container main exceeded its local ephemeral storage limit "1Mi". ',
  ],
]

const lowOnDisk = new RegExp(
  '^The node was low on resource: ephemeral-storage. Threshold quantity: \\d+[KMG]?i?, available: \\d+[KMG]?i?. ' +
    'Container main was using \\d+[KM]?i?, request is 0, has larger consumption of ephemeral-storage. $',
)

const stateOf = ({ status: { phase, reason, message } = {} }: Pod) => ({ phase, reason, message })
const disruptionOf = ({ conditions = [] }: PodStatus = {}) => conditions.find(({ type }) => type === 'DisruptionTarget')

async function nodeCondition(node: TestNode, wanted: 'True' | 'False') {
  const read = async () => {
    const { status, spec } = await node.client.get(nodes, '', 'n1')
    const condition = status?.conditions?.find(({ type }) => type === 'DiskPressure')
    const isTainted = spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/disk-pressure') ?? false
    return condition?.status === wanted && isTainted === (wanted === 'True') && condition
  }
  return waitFor(`DiskPressure is ${wanted}, and so is the taint`, read, { deadlineMs: 120_000, everyMs: 100 })
}

const limits = ['emptydirfs.limit', 'ephemeralpodfs.limit', 'ephemeralcontainerfs.limit'] as const

/** The metrics of evictions for a signal. */
async function countOf(t: Lifetime, node: TestNode, signal: string) {
  const text = await reachable(t, node.cluster).text('/api/v1/nodes/n1/proxy/metrics')
  const value = (name: string): number =>
    Number(new RegExp(`^${name}\\{eviction_signal="${signal}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  return { evictions: value('kubelet_evictions'), ages: value('kubelet_eviction_stats_age_seconds_count') }
}

const nodeEvents = async (node: TestNode, reason: string): Promise<readonly (string | undefined)[]> => {
  const { items } = await node.client.list(events, { namespace: 'default' })
  return items
    .filter((event) => event.involvedObject.kind === 'Node' && event.reason === reason)
    .map(({ message }) => message)
}

/** The annotations of a pod's eviction have the facts of its message. */
async function checkAnnotations(node: TestNode, pod: Pod, message: string): Promise<void> {
  const { items } = await node.client.list(events, { namespace: 'default' })
  const event = items.find((one) => one.reason === 'Evicted' && one.involvedObject.uid === pod.metadata.uid)
  const { offending_containers_usage: used = '', ...annotations } = event?.metadata.annotations ?? {}
  assert.deepEqual(annotations, { starved_resource: 'ephemeral-storage', offending_containers: 'main' })
  assert.ok(message.includes(`Container main was using ${used}, `))
}

await inNamespaces(import.meta.filename, () =>
  describe('eviction', async () => {
    const node = await TestNode.start({}, { configuration })
    const evicted = (pod: Pod): Promise<Pod> => node.until(pod, 'fails', ({ status }) => status?.phase === 'Failed')

    test('pods that exceed a limit of local storage are evicted', async (t) => {
      const created = await Promise.all(greedy.map(([pod]) => node.create(pod)))
      for (const [index, [, message]] of greedy.entries()) {
        const pod = await evicted(created[index]!)
        assert.deepEqual(stateOf(pod), { phase: 'Failed', reason: 'Evicted', message })
        assert.equal(disruptionOf(pod.status), undefined)
        assert.deepEqual(await node.messages(pod, 'Evicted'), [message])
      }
      for (const limit of limits) assert.deepEqual(await countOf(t, node, limit), { evictions: 1, ages: 0 })
      await Promise.all(created.map((pod) => node.deleted(pod)))
    })

    test('a node under disk pressure evicts pods, is tainted, and rejects pods', async (t) => {
      const critical = await node.create({
        name: 'critical',
        script: 'sleep 3600',
        priorityClassName: 'system-node-critical',
      })
      const victim = await node.create({ name: 'victim', script: write('/file') })
      await Promise.all([node.running(critical), node.running(victim)])
      await node.stopKubelet()
      await node.startKubelet({ evictionHard: { 'nodefs.available': '99.9%' } })
      const { metadata, status } = await evicted(victim)
      const message = status?.message ?? ''
      assert.match(message, lowOnDisk)
      assert.deepEqual(
        [status?.reason, ...(await node.messages({ ...victim, metadata }, 'Evicted'))],
        ['Evicted', message],
      )
      await checkAnnotations(node, victim, message)
      const disruption = disruptionOf(status)
      assert.deepEqual(
        [disruption?.status, disruption?.reason, disruption?.message],
        ['True', 'TerminationByKubelet', message],
      )
      assert.equal((await countOf(t, node, 'nodefs.available')).evictions, 1)
      const condition = await nodeCondition(node, 'True')
      assert.deepEqual([condition.reason, condition.message], ['KubeletHasDiskPressure', 'kubelet has disk pressure'])
      assert.ok((await nodeEvents(node, 'EvictionThresholdMet')).includes('Attempting to reclaim ephemeral-storage'))
      assert.ok((await nodeEvents(node, 'NodeHasDiskPressure')).length > 0)
      const late = await evicted(await node.create({ name: 'late', script: 'sleep 3600' }))
      const rejection = 'Pod was rejected: The node had condition: [DiskPressure]. '
      assert.deepEqual(stateOf(late), { phase: 'Failed', reason: 'Evicted', message: rejection })
      assert.equal((await node.read(critical)).status?.phase, 'Running')
    })

    test('a node that recovers from disk pressure loses the taint and admits pods', async () => {
      await node.stopKubelet()
      await node.startKubelet()
      const { reason, message } = await nodeCondition(node, 'False')
      assert.deepEqual([reason, message], ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'])
      assert.equal(await node.ended(await node.create({ name: 'admitted', script: 'echo yes' })), 'yes')
    })
  }),
)
