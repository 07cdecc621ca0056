/** metrics.k8s.io, which the API server answers from the kubelets, for kubectl, client-node and other users. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { KubeConfig, Metrics } from '@kubernetes/client-node'
import { nodes, type Pod, pods, roleBindings } from '../../src/client/kinds.ts'
import { waitFor } from '../../src/client/objects/wait-for.ts'
import { metricsServer } from '../controllers/autoscaling/metrics-server.ts'
import { clientFor } from '../support/client-for.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { reachable } from '../support/reachable-cluster.ts'
import { type Lifetime, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor as eventually } from '../support/wait-for.ts'

const prefix = 'simulation.typernetes.io'
const api = '/apis/metrics.k8s.io/v1beta1'

const pod = (name: string, node: string, usage: Readonly<Record<string, string>>, containers = ['c']): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    labels: { app: name },
    annotations: Object.fromEntries(Object.entries(usage).map(([key, value]) => [`${prefix}/${key}`, value])),
  },
  spec: { nodeName: node, containers: containers.map((container) => ({ name: container, image: 'nginx:1' })) },
})

/** A cluster whose pods run, and whose metrics are complete. */
async function measuredCluster(t: Lifetime, running: readonly Pod[]): Promise<TestCluster> {
  const cluster = await testCluster(t, { nodes: 2 })
  const client = clientFor(t, cluster)
  for (const one of running) {
    await client.create(pods, one)
    const isRunning = (object: Pod | undefined): boolean => object?.status?.phase === 'Running'
    await waitFor(client, pods, { namespace: 'default', name: one.metadata.name! }, isRunning)
  }
  await eventually('usage of all pods', async () => {
    const { items } = await list(cluster, `${api}/pods`).catch(() => ({ items: [] }))
    return items.length === running.length
  })
  return cluster
}

interface MetricsList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

const list = ({ call }: TestCluster, path: string) => call('GET', path) as unknown as Promise<MetricsList>
const namesIn = async (cluster: TestCluster, path: string): Promise<readonly string[]> =>
  (await list(cluster, path)).items.map(({ metadata }) => metadata.name)

test('kubectl top and get show the usage of nodes and pods', async (t) => {
  const cluster = await measuredCluster(t, [
    pod('busy', 'node-1', { cpu: '900m', 'memory.one': '64Mi', 'memory.two': '32Mi' }, ['one', 'two']),
    pod('idle', 'node-2', { cpu: '1m', memory: '1Gi' }),
  ])
  for (const program of installedKubectls()) {
    await t.test(`kubectl ${program.version}`, async () => {
      const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
      await kubectl.ok(
        'top node',
        /^NAME +CPU\(cores\) +CPU\S+ +MEMORY\(bytes\) +MEMORY\S+ *\nnode-1 +1850m .*\nnode-2 /,
      )
      await kubectl.ok('top node node-2 --no-headers', /^node-2 +51m +1% +1424Mi +\d+% *\n$/)
      await kubectl.ok('top node -l kubernetes.io/hostname=node-1 --no-headers', /^node-1 .*\n$/)
      await kubectl.ok('top pod', /^NAME .*\nbusy +1800m +96Mi *\nidle +1m +1024Mi *\n$/)
      await kubectl.ok('top pod --sort-by=memory --no-headers', /^idle .*\nbusy .*\n$/)
      await kubectl.ok('top pod --sort-by=cpu --no-headers', /^busy .*\nidle .*\n$/)
      await kubectl.ok('top pod --selector app=idle --no-headers', /^idle +1m +1024Mi *\n$/)
      await kubectl.ok(
        'top pod --containers -A --no-headers',
        /^default +busy +one +900m +64Mi *\ndefault +busy +two +900m +32Mi *\ndefault +idle +c +1m +1024Mi *\n$/,
      )
      await kubectl.ok('top pod --field-selector metadata.name=idle --no-headers', /^idle .*\n$/)
      await kubectl.ok('get nodemetrics', /^NAME +CPU +MEMORY +SWAP +WINDOW *\nnode-1 +1850m +\S+ +0 +10s *\nnode-2 /)
      await kubectl.ok('get podmetrics busy', /^NAME +CPU +MEMORY +SWAP +WINDOW *\nbusy +1800m +96Mi +0 +10s *\n$/)
      await kubectl.fails('get podmetrics -w', /MethodNotAllowed|the server does not allow this method/)
      await kubectl.ok('explain pods --api-version=metrics.k8s.io/v1beta1', /usage of each running container/)
    })
  }
})

test('objects and errors are those of metrics-server', async (t) => {
  const cluster = await measuredCluster(t, [pod('web', 'node-1', { cpu: '250m', memory: '64Mi' })])
  const { call } = cluster
  const web = (await call('GET', `${api}/namespaces/default/pods/web`)) as unknown as Record<string, unknown>
  assert.deepEqual(Object.keys(web), ['kind', 'apiVersion', 'metadata', 'timestamp', 'window', 'containers'])
  assert.deepEqual(web.containers, [{ name: 'c', usage: { cpu: '250m', memory: '64Mi', swap: '0' } }])
  assert.deepEqual((web.metadata as { labels?: object }).labels, { app: 'web' })
  assert.ok(Date.now() - Date.parse(web.timestamp as string) < 60_000)
  const all = (await call('GET', `${api}/pods`)) as unknown as Record<string, unknown>
  assert.deepEqual([all.kind, all.metadata], ['PodMetricsList', {}])
  assert.deepEqual(Object.keys((all.items as object[])[0]!)[0], 'metadata')
  const client = clientFor(t, cluster)
  await client.create(pods, pod('waiting', 'node-1', { 'start-delay': '1h' }))
  for (const [path, message] of [
    ['nodes/missing', 'nodes "missing" not found'],
    ['namespaces/default/pods/missing', 'pods "missing" not found'],
    ['namespaces/default/pods/waiting', 'pods "waiting" not found'],
    ['pods/web', 'the server could not find the requested resource'],
    ['namespaces/default/nodes/node-1', 'the server could not find the requested resource'],
  ] as const) {
    const expected = JSON.stringify(message).slice(0, -1)
    await assert.rejects(
      call('GET', `${api}/${path}`),
      ({ message: found }: Error) => found.includes(': 404 ') && found.includes(expected),
    )
  }
  await assert.rejects(call('GET', `${api}/pods?fieldSelector=spec.nodeName=x`), /400 .*is not a known field selector/)
  await assert.rejects(call('DELETE', `${api}/nodes/node-1`), /405/)
  const config = new KubeConfig()
  config.loadFromString(cluster.kubeconfigYaml)
  const metrics = new Metrics(config)
  assert.deepEqual(
    (await metrics.getNodeMetrics()).items.map(({ metadata }) => metadata.name),
    ['node-1', 'node-2'],
  )
  assert.equal((await metrics.getPodMetrics('default')).items[0]?.containers[0]?.usage.cpu, '250m')
})

test('nodes that do not answer are omitted, and do not keep others from being shown', async (t) => {
  const cluster = await measuredCluster(t, [pod('web', 'node-2', { cpu: '250m' })])
  const client = clientFor(t, cluster)
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  await client.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'dead', labels: { 'kubernetes.io/os': 'linux' } },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: (silent.address() as AddressInfo).port } },
    },
  })
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'without-address' } })
  const failure = { metadata: { annotations: { [`${prefix}/failure`]: 'not-ready' } } }
  await cluster.call('PATCH', '/api/v1/nodes/node-1', failure, 'application/merge-patch+json')
  await eventually(
    'only the working node is shown',
    async () => (await namesIn(cluster, `${api}/nodes`)).join() === 'node-2',
  )
  for (let i = 0; i < 3; i++) assert.deepEqual(await namesIn(cluster, `${api}/pods`), ['web'])
  for (const name of ['dead', 'without-address'])
    await assert.rejects(
      cluster.call('GET', `${api}/nodes/${name}`),
      new RegExp(`nodemetrics.metrics.k8s.io \\\\?"${name}\\\\?" not found`),
    )
})

test('viewers of a namespace may read the usage of its pods', async (t) => {
  const cluster = await measuredCluster(t, [pod('web', 'node-1', { cpu: '250m' })])
  const client = clientFor(t, cluster)
  const jane = reachable(t, { url: cluster.url, ...(await cluster.user({ name: 'jane' })) })
  await assert.rejects(jane.call('GET', `${api}/namespaces/default/pods`), /403/)
  await client.create(roleBindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'jane', namespace: 'default' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  })
  await eventually('the aggregated role', async () => {
    const found = await jane.call('GET', `${api}/namespaces/default/pods`).catch(() => undefined)
    return found !== undefined
  })
  await assert.rejects(jane.call('GET', `${api}/nodes`), /403/)
})

test('a registered metrics-server takes over, until its APIService is deleted', async (t) => {
  const cluster = await measuredCluster(t, [pod('web', 'node-1', { cpu: '250m' })])
  await assert.rejects(
    cluster.call('GET', '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io'),
    /404/,
    'no APIService is in the way of an installation',
  )
  const { measured } = await metricsServer(t, cluster)
  measured.pods = [{ name: 'foreign', containers: { c: { cpu: '1', memory: '1Mi' } } }]
  assert.deepEqual(await namesIn(cluster, `${api}/namespaces/default/pods`), ['foreign'])
  await cluster.call('DELETE', '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io')
  await eventually('our own answer', async () => (await namesIn(cluster, `${api}/pods`)).join() === 'web')
})

test('metrics.k8s.io is served from the first kubelet on, unless it is turned off', async (t) => {
  const hasMetrics = async ({ call }: TestCluster): Promise<boolean> =>
    JSON.stringify(await call('GET', '/apis')).includes('"metrics.k8s.io"')
  const [empty, off] = await Promise.all([
    testCluster(t),
    testCluster(t, { nodes: 1, apiServerFlags: ['--resource-metrics=false'] }),
  ])
  await clientFor(t, empty).create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'bare' } })
  assert.equal(await hasMetrics(empty), false)
  await off.synced
  assert.equal(await hasMetrics(off), false)
  const labels = { 'kubernetes.io/os': 'linux' }
  await clientFor(t, empty).create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'kubelet', labels } })
  await eventually('metrics.k8s.io', () => hasMetrics(empty))
})
