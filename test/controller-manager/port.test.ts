/** The secure port of a controller manager and its access control. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'

import { configMaps, serviceAccounts } from '../../src/client/kinds.ts'
import { clientFor } from '../support/client-for.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { managerProcess } from './manager-process.ts'

interface Asked {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

/** Its certificate is self-signed, so it is not verified. */
async function ask(url: string, path: string, { token, cert, key }: Asked = {}) {
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  const sent = request(new URL(path, url), { cert, key, headers, agent: false, rejectUnauthorized: false }).end()
  const [response]: IncomingMessage[] = await once(sent, 'response')
  return {
    status: response!.statusCode,
    type: response!.headers['content-type'],
    text: Buffer.concat(await response!.toArray()).toString(),
  }
}

/** For a manager, port 0 means none. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

/** Tokens of an account that may read metrics and of one that may not. */
async function tokens(t: TestContext, cluster: TestCluster) {
  const client = clientFor(t, cluster)
  const tokenOf = async (name: string): Promise<string> => {
    await client.create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: 'default', name },
    })
    const made = await cluster.call('POST', `/api/v1/namespaces/default/serviceaccounts/${name}/token`, { spec: {} })
    return (made.status as { token: string }).token
  }
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  await cluster.call('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'metrics' },
    rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  })
  await cluster.call('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'metrics' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'metrics' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'reader' }],
  })
  return { reader: await tokenOf('reader'), other: await tokenOf('other') }
}

/** Checks that apply to every manager. */
async function checkPort(t: TestContext, cluster: TestCluster, url: string): Promise<void> {
  const { cert, key } = cluster.client
  const admin = { cert, key }
  assert.deepEqual(await ask(url, '/healthz'), { status: 200, type: 'text/plain; charset=utf-8', text: 'ok' })
  assert.match((await ask(url, '/livez?verbose')).text, /\[\+\]namespace-controller ok\n[\s\S]*livez check passed\n$/)
  assert.equal((await ask(url, '/healthz/namespace-controller', admin)).text, 'ok')
  const refused = await ask(url, '/metrics')
  assert.equal(refused.status, 403)
  assert.match(refused.text, /"forbidden: User \\"system:anonymous\\" cannot get path \\"\/metrics\\""/)
  assert.equal((await ask(url, '/metrics', { token: 'none' })).status, 401)
  const { reader, other } = await tokens(t, cluster)
  assert.equal((await ask(url, '/metrics', { token: other })).status, 403)
  const metrics = await ask(url, '/metrics', { token: reader })
  assert.equal(metrics.status, 200)
  for (const name of [
    'workqueue_adds_total{name="namespace"}',
    'process_resident_memory_bytes',
    'running_managed_controllers{manager="kube-controller-manager"',
  ]) {
    assert.ok(metrics.text.includes(name), name)
  }
  const slis = await ask(url, '/metrics/slis', admin)
  assert.match(slis.text, /^kubernetes_healthcheck\{name="namespace-controller",type="livez"\} 1$/m)
  assert.equal((await ask(url, '/configz', { token: reader })).status, 403)
  assert.ok(JSON.parse((await ask(url, '/configz', admin)).text)['kubecontrollermanager.config.k8s.io'])
  assert.equal((await ask(url, '/nowhere', admin)).status, 404)

  const client = clientFor(t, cluster)
  const owner = await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name: 'owner' },
  })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid ?? '' }]
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name: 'owned', ownerReferences },
  })
  for (const name of ['garbagecollector', 'garbage-collector-controller']) {
    const drawn = await waitFor('both in the graph', async () => {
      const graph = await ask(url, `/debug/controllers/${name}/graph?uid=${owner.metadata.uid}`, admin)
      return graph.text.includes('name="owned"') && graph
    })
    assert.equal(drawn.type, 'text/vnd.graphviz')
    assert.match(drawn.text, /^strict digraph full \{\n[\s\S]*name="owner"/)
  }
  assert.equal((await ask(url, '/debug/controllers/garbagecollector/nothing', admin)).status, 404)
}

test('a standalone manager serves health to everyone and the rest to authorized clients', async (t) => {
  const cluster = await testCluster(t, { controllers: false })
  const file = cluster.kubeconfigFile
  const port = await freePort()
  const manager = managerProcess(t, [
    ...['--kubeconfig', file, '--authentication-kubeconfig', file, '--authorization-kubeconfig', file],
    ...['--bind-address', '127.0.0.1', '--secure-port', `${port}`],
  ])
  await waitFor('its controllers', () => manager.output().includes('all controllers have synced'), {
    deadlineMs: 60_000,
  })
  const url = `https://127.0.0.1:${port}`
  await checkPort(t, cluster, url)
  const { cert, key } = cluster.client
  const { text } = await ask(url, '/metrics', { cert, key })
  assert.match(text, /^leader_election_master_status\{name="kube-controller-manager"\} 1$/m)
  assert.equal((await ask(url, '/healthz/leaderElection', { cert, key })).text, 'ok')
})

for (const controllersThread of [false, true]) {
  test(`the controllers of a cluster serve the same${controllersThread ? ' from their thread' : ''}`, async (t) => {
    const lines: string[] = []
    const cluster = await testCluster(t, {
      controllersThread,
      controllerManagerPort: 0,
      log: (line) => lines.push(line),
    })
    const port = await waitFor(
      'the port',
      () => /controllers serve health and metrics on 127.0.0.1:(\d+)/.exec(lines.join('\n'))?.[1],
    )
    await checkPort(t, cluster, `https://127.0.0.1:${port}`)
    await assert.rejects(
      testCluster(t, { controllersThread, controllerManagerPort: Number(port) }),
      /in use by another process: choose another with `controllerManagerPort`/,
    )
  })
}
