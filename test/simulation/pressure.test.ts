/** Nodes under pressure: pods are evicted one by one, new ones are rejected, until the node recovers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { events, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { waitFor } from '../../src/client/objects/wait-for.ts'
import { clientFor } from '../support/client-for.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor as eventually } from '../support/wait-for.ts'

const prefix = 'simulation.typernetes.io'
const at = (name: string) => ({ namespace: 'default', name })
const phase = (wanted: string) => (pod: Pod | undefined) => pod?.status?.phase === wanted

const pod = (
  name: string,
  spec: Partial<NonNullable<Pod['spec']>> = {},
  annotations: Record<string, string> = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...at(name), annotations },
  spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'nginx:1' }], ...spec },
})

const withMemory = (memory: string) => ({
  containers: [{ name: 'c', image: 'nginx:1', resources: { requests: { memory } } }],
})

async function nodeWithPause(t: Parameters<typeof testCluster>[0], pause: string) {
  const client = clientFor(t, await testCluster(t, { nodes: 1 }))
  const annotate = (annotations: Record<string, string | null>) =>
    client.patch(nodes, '', 'node-1', { metadata: { annotations } }, 'merge')
  await waitFor(
    client,
    nodes,
    { name: 'node-1' },
    (node) => node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
  )
  await annotate({ [`${prefix}/eviction-pause`]: pause })
  return { client, fail: (how: string | null) => annotate({ [`${prefix}/failure`]: how }) }
}

test(
  'a node under disk pressure evicts pods one by one, the least important first, and never critical ' + 'ones',
  async (t) => {
    const { client, fail } = await nodeWithPause(t, '300ms')
    for (const one of [pod('first'), pod('second'), pod('critical', { priorityClassName: 'system-node-critical' })]) {
      if (one.spec?.priorityClassName) one.metadata.namespace = 'kube-system'
      await client.create(pods, one)
      const { namespace = '', name = '' } = one.metadata
      await waitFor(client, pods, { namespace, name }, phase('Running'))
    }
    await fail('disk-pressure')
    const [first, second] = [
      await waitFor(client, pods, at('first'), phase('Failed')),
      await waitFor(client, pods, at('second'), phase('Failed')),
    ]
    for (const one of [first, second]) {
      assert.equal(one?.status?.reason, 'Evicted')
      const message = one?.status?.message ?? ''
      assert.match(
        message,
        /^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+, available: \d+Ki\. /,
      )
      assert.match(
        message,
        /Container c was using \d+Ki, request is 0, has larger consumption of ephemeral-storage\. $/,
      )
      const condition = one?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
      assert.deepEqual(
        [condition?.status, condition?.reason, condition?.message],
        ['True', 'TerminationByKubelet', one?.status?.message],
      )
      assert.equal(one?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 143)
    }
    const reasonsOf = async (name: string) =>
      (await client.list(events, { namespace: 'default', fieldSelector: `involvedObject.name=${name}` })).items.map(
        ({ reason }) => reason,
      )
    await eventually('the events of the eviction', async () => {
      const reasons = await reasonsOf('first')
      return (
        reasons.includes('Evicted') &&
        reasons.includes('Killing') &&
        (await reasonsOf('node-1')).includes('EvictionThresholdMet')
      )
    })
    const critical = await client.get(pods, 'kube-system', 'critical')
    assert.equal(critical.status?.phase, 'Running')

    await client.create(pods, pod('refused'))
    const refused = await waitFor(client, pods, at('refused'), phase('Failed'))
    assert.deepEqual(
      [refused?.status?.reason, refused?.status?.message],
      ['Evicted', 'Pod was rejected: The node had condition: [DiskPressure]. '],
    )
    await fail(null)
    await waitFor(client, nodes, { name: 'node-1' }, (node) => !node?.spec?.taints?.length)
    await client.create(pods, pod('after'))
    await waitFor(client, pods, at('after'), phase('Running'))
  },
)

test('under memory pressure best-effort pods are rejected, and pods over their requests evicted', async (t) => {
  const { client, fail } = await nodeWithPause(t, '1h')
  await client.create(pods, pod('modest', withMemory('1Gi'), { [`${prefix}/memory`]: '10Mi' }))
  await client.create(pods, pod('greedy', withMemory('1Mi'), { [`${prefix}/memory`]: '64Mi' }))
  for (const name of ['modest', 'greedy']) await waitFor(client, pods, at(name), phase('Running'))
  await fail('memory-pressure')
  const greedy = await waitFor(client, pods, at('greedy'), phase('Failed'))
  assert.equal(
    greedy?.status?.message,
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 64Mi. Container c was using ' +
      '64Mi, request is 1Mi, has larger consumption of memory. ',
  )
  await client.create(pods, pod('best-effort'))
  const refused = await waitFor(client, pods, at('best-effort'), phase('Failed'))
  assert.equal(refused?.status?.message, 'Pod was rejected: The node had condition: [MemoryPressure]. ')
  const tolerations = [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }]
  await client.create(pods, pod('tolerant', { tolerations }))
  await client.create(pods, pod('burstable', withMemory('1Gi')))
  for (const name of ['tolerant', 'burstable']) await waitFor(client, pods, at(name), phase('Running'))
  // Only one pod per pause is evicted.
  assert.equal((await client.get(pods, 'default', 'modest')).status?.phase, 'Running')
})
