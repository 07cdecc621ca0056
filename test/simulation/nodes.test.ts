/** Simulated nodes as API objects: registration, leases, failures, and the phases of their pods. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConfigMap, configMaps, events, leases, type Node, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { isDeleted, waitFor } from '../../src/client/objects/wait-for.ts'
import { clientFor } from '../support/client-for.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor as eventually } from '../support/wait-for.ts'

const prefix = 'simulation.typernetes.io'
const pod = (
  name: string,
  spec: Partial<NonNullable<Pod['spec']>> = {},
  annotations: Record<string, string> = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`${prefix}/${key}`, value])),
  },
  spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'nginx:1' }], ...spec },
})
const isReady = (object: Node | Pod | undefined): boolean =>
  object?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
const phase = (wanted: string) => (object: Pod | undefined) => object?.status?.phase === wanted
const at = (name: string) => ({ namespace: 'default', name })

test('nodes register as kubelets do, get pod ranges, lose the taint and renew leases', async (t) => {
  const client = clientFor(
    t,
    await testCluster(t, {
      nodes: {
        count: 3,
        groups: [
          {
            name: 'node',
            shape: { architecture: 'arm64', capacity: { cpu: '2', memory: '4Gi', pods: '10' }, labels: { tier: 'a' } },
            zones: ['west/a', 'west/b'],
          },
        ],
      },
    }),
  )
  const isComplete = (node: Node | undefined): boolean =>
    isReady(node) && !node?.spec?.taints?.length && node?.spec?.podCIDR !== undefined
  for (const name of ['node-1', 'node-2', 'node-3']) await waitFor(client, nodes, { name }, isComplete)
  const node = await client.get(nodes, '', 'node-2')
  assert.deepEqual(
    Object.fromEntries(
      [
        'kubernetes.io/hostname',
        'kubernetes.io/os',
        'kubernetes.io/arch',
        'topology.kubernetes.io/zone',
        'topology.kubernetes.io/region',
        'tier',
      ].map((label) => [label, node.metadata.labels?.[label]]),
    ),
    {
      'kubernetes.io/hostname': 'node-2',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'arm64',
      'topology.kubernetes.io/zone': 'b',
      'topology.kubernetes.io/region': 'west',
      tier: 'a',
    },
  )
  assert.deepEqual(node.status?.allocatable, { cpu: '2', memory: '4Gi', pods: '10' })
  assert.ok(node.status?.declaredFeatures?.includes('InPlacePodVerticalScalingInitContainers'))
  assert.deepEqual(
    node.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    [
      'MemoryPressure False KubeletHasSufficientMemory',
      'DiskPressure False KubeletHasNoDiskPressure',
      'PIDPressure False KubeletHasSufficientPID',
      'Ready True KubeletReady',
    ],
  )
  assert.match(node.spec?.podCIDR ?? '', /^10\.\d+\.\d+\.0\/24$/)
  const lease = await waitFor(
    client,
    leases,
    { namespace: 'kube-node-lease', name: 'node-1' },
    (one) => one?.spec?.renewTime !== undefined,
  )
  assert.deepEqual([lease?.spec?.holderIdentity, lease?.spec?.leaseDurationSeconds], ['node-1', 40])
})

test(
  'pods go through their phases, with addresses of their node and events of its kubelet, and end when ' +
    'they are deleted',
  async (t) => {
    const client = clientFor(t, await testCluster(t, { nodes: 1 }))
    const node = await waitFor(client, nodes, { name: 'node-1' }, isReady)
    await client.create(pods, pod('web', { initContainers: [{ name: 'init', image: 'busybox:1' }] }))
    await client.create(pods, pod('done', { restartPolicy: 'Never' }, { 'run-for': '50ms' }))
    await client.create(pods, pod('failed', { restartPolicy: 'Never' }, { 'run-for': '50ms', 'exit-code': '7' }))
    await client.create(
      pods,
      pod('large', { containers: [{ name: 'c', image: 'i:1', resources: { requests: { cpu: '100' } } }] }),
    )
    const web = await waitFor(client, pods, at('web'), isReady)
    assert.equal(web?.status?.phase, 'Running')
    assert.equal(
      web?.status?.podIP?.split('.').slice(0, 3).join('.'),
      node?.spec?.podCIDR?.split('.').slice(0, 3).join('.'),
    )
    assert.equal(web?.status?.hostIP, node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address)
    await waitFor(client, pods, at('done'), phase('Succeeded'))
    const failed = await waitFor(client, pods, at('failed'), phase('Failed'))
    assert.equal(failed?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 7)
    const large = await waitFor(client, pods, at('large'), phase('Failed'))
    assert.equal(large?.status?.reason, 'OutOfcpu')
    assert.equal(
      large?.status?.message,
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 4000",
    )
    await client.delete(pods, 'default', 'web')
    await waitFor(client, pods, at('web'), isDeleted)
    // Events are recorded in the background.
    const recorded = async () => {
      const { items } = await client.list(events, { namespace: 'default', fieldSelector: 'involvedObject.name=web' })
      return [...new Set(items.map(({ reason, source }) => `${reason} ${source?.component} ${source?.host}`))]
        .sort()
        .join()
    }
    const wanted = ['Created', 'Killing', 'Pulled', 'Started'].map((reason) => `${reason} kubelet node-1`).join()
    await eventually(`events: ${wanted}`, async () => (await recorded()) === wanted)
  },
)

test('nodes report failures, `gone` nodes become Unknown, and both recover', async (t) => {
  const client = clientFor(
    t,
    await testCluster(t, {
      nodes: 1,
      controllerFlags: { 'node-monitor-grace-period': '2s', 'node-monitor-period': '200ms' },
    }),
  )
  await waitFor(client, nodes, { name: 'node-1' }, isReady)
  const fail = (how: string | null) =>
    client.patch(nodes, '', 'node-1', { metadata: { annotations: { [`${prefix}/failure`]: how } } }, 'merge')
  await fail('not-ready')
  const failed = await waitFor(
    client,
    nodes,
    { name: 'node-1' },
    (node) =>
      node?.status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'KubeletNotReady') ?? false,
  )
  assert.ok(failed)
  await client.create(pods, pod('late'))
  await fail('disk-pressure')
  await waitFor(
    client,
    nodes,
    { name: 'node-1' },
    (node) => node?.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/disk-pressure') ?? false,
  )
  const late = await waitFor(client, pods, at('late'), phase('Failed'))
  assert.equal(late?.status?.reason, 'Evicted')
  await fail('gone')
  await waitFor(
    client,
    nodes,
    { name: 'node-1' },
    (node) => node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown') ?? false,
  )
  await fail(null)
  await waitFor(client, nodes, { name: 'node-1' }, (node) => isReady(node) && !node?.spec?.taints?.length)
  await client.create(pods, pod('after'))
  await waitFor(client, pods, at('after'), isReady)
})

test('the fleet follows its ConfigMap, and labelled nodes of others are simulated', async (t) => {
  const client = clientFor(t, await testCluster(t, { nodes: 1 }))
  await waitFor(client, nodes, { name: 'node-1' }, isReady)
  const resize = (count: string) =>
    client.patch<ConfigMap>(configMaps, 'kube-system', 'simulated-nodes', { data: { nodes: count } }, 'merge')
  await resize('3')
  await waitFor(client, nodes, { name: 'node-3' }, isReady)
  await client.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'mine', labels: { [`${prefix}/node`]: 'mine' } },
  })
  await waitFor(client, nodes, { name: 'mine' }, isReady)
  await resize('0')
  for (const name of ['node-1', 'node-2', 'node-3']) await waitFor(client, nodes, { name }, isDeleted)
  assert.ok(await client.get(nodes, '', 'mine'))
})
