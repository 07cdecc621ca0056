/**
 * Nodes that run short of something: pods are evicted one after the other, new ones are refused, and all is well again
 * when the node is.
 */
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

const asking = (memory: string) => ({
  containers: [{ name: 'c', image: 'nginx:1', resources: { requests: { memory } } }],
})

async function pressed(t: Parameters<typeof testCluster>[0], pause: string) {
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
  'a node with too little disk evicts pods one after the other, the least important first, and leaves critical ' +
    'ones alone',
  async (t) => {
    const { client, fail } = await pressed(t, '300ms')
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
      assert.match(
        one?.status?.message ?? '',
        /^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+, available: \d+Ki\. Container c was using \d+Ki, request is 0, has larger consumption of ephemeral-storage\. $/,
      )
      const condition = one?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
      assert.deepEqual(
        [condition?.status, condition?.reason, condition?.message],
        ['True', 'TerminationByKubelet', one?.status?.message],
      )
      assert.equal(one?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 143)
    }
    const told = async (name: string) =>
      (await client.list(events, { namespace: 'default', fieldSelector: `involvedObject.name=${name}` })).items.map(
        ({ reason }) => reason,
      )
    await eventually('the eviction is told', async () => {
      const reasons = await told('first')
      return (
        reasons.includes('Evicted') &&
        reasons.includes('Killing') &&
        (await told('node-1')).includes('EvictionThresholdMet')
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

test('where memory is short, pods that ask for none are refused, and those that use more than they asked for go first', async (t) => {
  const { client, fail } = await pressed(t, '1h')
  await client.create(pods, pod('modest', asking('1Gi'), { [`${prefix}/memory`]: '10Mi' }))
  await client.create(pods, pod('greedy', asking('1Mi'), { [`${prefix}/memory`]: '64Mi' }))
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
  await client.create(pods, pod('burstable', asking('1Gi')))
  for (const name of ['tolerant', 'burstable']) await waitFor(client, pods, at(name), phase('Running'))
  // One at a time: the pause is long.
  assert.equal((await client.get(pods, 'default', 'modest')).status?.phase, 'Running')
})
