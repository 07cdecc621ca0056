/** Nodes simulated by the test: heartbeats, silence, taints and pod evictions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event, Node, Pod } from '../../../src/client/kinds.ts'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const strategic = 'application/strategic-merge-patch+json'
const core = '/api/v1/namespaces/default'

const get = async <T>(cluster: TestCluster, path: string): Promise<T> =>
  (await cluster.call('GET', path)) as unknown as T

const isDeleted = (cluster: TestCluster, path: string): Promise<boolean> =>
  cluster.call('GET', path).then(
    () => false,
    (error) => String(error).includes(' 404 '),
  )

async function joined(cluster: TestCluster, name: string, labels: Record<string, string> = {}): Promise<void> {
  await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
  await beat(cluster, name)
}

/** Sends a heartbeat like a kubelet. */
async function beat(cluster: TestCluster, name: string, status = 'True'): Promise<void> {
  const condition = {
    type: 'Ready',
    status,
    reason: 'KubeletReady',
    message: 'm',
    lastHeartbeatTime: new Date().toISOString(),
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  await cluster.call('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions: [condition] } }, strategic)
}

async function running(
  cluster: TestCluster,
  name: string,
  nodeName: string,
  tolerationSeconds?: number,
): Promise<void> {
  const tolerations = ['not-ready', 'unreachable'].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  }))
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeName, tolerations, terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] },
  }
  await waitFor('the account', () => get(cluster, `${core}/serviceaccounts/default`))
  await cluster.call('POST', `${core}/pods`, pod)
  await cluster.call(
    'PATCH',
    `${core}/pods/${name}/status`,
    { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
    strategic,
  )
}

const taints = async (cluster: TestCluster, name: string): Promise<string[]> =>
  (await get<Node>(cluster, `/api/v1/nodes/${name}`)).spec?.taints?.map(
    ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
  ) ?? []

const events = async (cluster: TestCluster, reason: string): Promise<readonly Event[]> =>
  (await get<{ items: Event[] }>(cluster, `${core}/events?fieldSelector=reason=${reason}`)).items

test('a silent node becomes Unknown, its pods not ready, and they are evicted', async (t) => {
  const controllerFlags = {
    'node-monitor-grace-period': '1500ms',
    'node-monitor-period': '100ms',
    'node-eviction-rate': '10',
  }
  const cluster = await testCluster(t, { controllers: ['*'], controllerFlags })
  await joined(cluster, 'silent', { 'kubernetes.io/os': 'linux' })
  await joined(cluster, 'alive')
  // Heartbeats of the other node continue: if all nodes were down, evictions would stop.
  const heartbeats = setInterval(() => void beat(cluster, 'alive').catch(() => {}), 200)
  t.after(() => clearInterval(heartbeats))
  await waitFor('taints of the start to go', async () => (await taints(cluster, 'silent')).length === 0)
  await running(cluster, 'brief', 'silent', 0)
  await running(cluster, 'patient', 'silent')
  const node = await waitFor('Unknown', async () => {
    const found = await get<Node>(cluster, '/api/v1/nodes/silent')
    return found.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown') && found
  })
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  assert.equal(ready?.reason, 'NodeStatusUnknown')
  assert.equal(ready?.message, 'Kubelet stopped posting node status.')
  assert.equal(node.metadata.labels?.['beta.kubernetes.io/os'], 'linux')
  await waitFor(
    'taints',
    async () => (await taints(cluster, 'silent')).sort().join() === 'unreachable:NoExecute,unreachable:NoSchedule',
  )
  await waitFor('the patient pod to be not ready', async () => {
    const { status } = await get<Pod>(cluster, `${core}/pods/patient`)
    return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'False')
  })
  const brief = await waitFor('the brief pod to be deleted', async () => {
    const pod = await get<Pod>(cluster, `${core}/pods/brief`)
    return pod.metadata.deletionTimestamp ? pod : undefined
  })
  const target = brief.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  assert.deepEqual(
    [target?.status, target?.reason, target?.message],
    ['True', 'DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'],
  )
  assert.equal((await get<Pod>(cluster, `${core}/pods/patient`)).metadata.deletionTimestamp, undefined)
  await waitFor('events', async () => (await events(cluster, 'NodeNotReady')).length >= 2)
  assert.ok(
    (await events(cluster, 'NodeNotReady')).some(
      ({ message }) => message === 'Node silent status is now: NodeNotReady',
    ),
  )
  assert.ok(
    (await events(cluster, 'TaintManagerEviction')).some(
      ({ message }) => message === 'Marking for deletion Pod default/brief',
    ),
  )
  assert.ok(
    (await events(cluster, 'RegisteredNode')).some(
      ({ message }) => message === 'Node silent event: Registered Node silent in Controller',
    ),
  )
  // The node recovers.
  await beat(cluster, 'silent')
  await waitFor('no taints', async () =>
    (await taints(cluster, 'silent')).every((taint) => !taint.endsWith('NoExecute')),
  )
})

test('lease renewals count as heartbeats', async (t) => {
  const cluster = await testCluster(t, {
    controllers: ['*'],
    controllerFlags: { 'node-monitor-grace-period': '3s', 'node-monitor-period': '100ms' },
  })
  await joined(cluster, 'leased')
  await joined(cluster, 'silent')
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
  const lease = () => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'leased' },
    spec: { holderIdentity: 'leased', renewTime: new Date().toISOString().replace('Z', '000Z') },
  })
  await cluster.call('POST', leases, lease())
  const renewals = setInterval(
    () =>
      void cluster.call('PUT', `${leases}/leased`, { ...lease(), metadata: { name: 'leased' } }).catch(() => patched()),
    200,
  )
  const patched = () =>
    cluster.call('PATCH', `${leases}/leased`, { spec: lease().spec }, 'application/merge-patch+json').catch(() => {})
  t.after(() => clearInterval(renewals))
  await waitFor('the other to be Unknown', async () =>
    (await taints(cluster, 'silent')).includes('unreachable:NoSchedule'),
  )
  assert.deepEqual(await taints(cluster, 'leased'), [])
})

test('conditions and cordons of a node become NoSchedule taints', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'] })
  await joined(cluster, 'n')
  await cluster.call(
    'PATCH',
    '/api/v1/nodes/n/status',
    { status: { conditions: [{ type: 'MemoryPressure', status: 'True' }] } },
    strategic,
  )
  await waitFor('the taint', async () => (await taints(cluster, 'n')).includes('memory-pressure:NoSchedule'))
  await cluster.call('PATCH', '/api/v1/nodes/n', { spec: { unschedulable: true } }, strategic)
  await waitFor('the other', async () => (await taints(cluster, 'n')).includes('unschedulable:NoSchedule'))
  await cluster.call('PATCH', '/api/v1/nodes/n', { spec: { unschedulable: null } }, strategic)
  await waitFor('it to go', async () => !(await taints(cluster, 'n')).includes('unschedulable:NoSchedule'))
  await waitFor(
    'the ttl',
    async () =>
      (await get<Node>(cluster, '/api/v1/nodes/n')).metadata.annotations?.['node.alpha.kubernetes.io/ttl'] === '0',
  )
})

test('a NoExecute taint evicts pods immediately or after tolerationSeconds', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'] })
  await joined(cluster, 'n')
  await running(cluster, 'p', 'n')
  await cluster.call(
    'PATCH',
    '/api/v1/nodes/n',
    { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } },
    'application/merge-patch+json',
  )
  await waitFor(
    'the pod to be deleted',
    async () => (await get<Pod>(cluster, `${core}/pods/p`)).metadata.deletionTimestamp,
  )
})

test('pods that no kubelet will terminate are removed', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'], controllerFlags: { 'terminated-pod-gc-threshold': '1' } })
  await joined(cluster, 'n')
  await running(cluster, 'lost', 'n')
  await cluster.call(
    'PATCH',
    '/api/v1/nodes/n',
    { spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'x', effect: 'NoSchedule' }] } },
    'application/merge-patch+json',
  )
  await beat(cluster, 'n', 'False')
  await cluster.call('DELETE', `${core}/pods/lost`)
  await waitFor('the pod to be deleted', () => isDeleted(cluster, `${core}/pods/lost`))
})

test('nodes get address ranges with --allocate-node-cidrs', async (t) => {
  const cluster = await testCluster(t, {
    controllers: ['*'],
    controllerFlags: { 'allocate-node-cidrs': 'true', 'cluster-cidr': '10.244.0.0/23,fd00::/63' },
  })
  const pairs = [['10.244.0.0/24', 'fd00::/64'].join(), ['10.244.1.0/24', 'fd00:0:0:1::/64'].join()]
  const rangesOf = async (name: string): Promise<string | undefined> =>
    (await get<Node>(cluster, `/api/v1/nodes/${name}`)).spec?.podCIDRs?.join()
  // The next free pair depends on conflicts: after one, the taken ranges are released and the next are used.
  await joined(cluster, 'a')
  await waitFor('its ranges', async () => pairs.includes((await rangesOf('a')) ?? ''))
  const first = await rangesOf('a')
  await joined(cluster, 'b')
  await waitFor('its ranges', async () => (await rangesOf('b')) === pairs.find((pair) => pair !== first))
  await joined(cluster, 'c')
  await waitFor('the event', async () => (await events(cluster, 'CIDRNotAvailable')).length > 0)
  await cluster.call('DELETE', '/api/v1/nodes/a')
  await waitFor('what the other gave back', async () => (await rangesOf('c')) === first)
})
