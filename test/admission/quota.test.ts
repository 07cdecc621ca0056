/**
 * Quotas on a real server: no overshoot by concurrent creates, usage that follows deletes, and the output of kubectl.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { type Client, clientOf, json } from '../support/api-client.ts'
import { serve, startTestServer } from '../support/api-server.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const base = '/api/v1/namespaces/default'

interface QuotaShown {
  readonly status: {
    readonly hard?: Readonly<Record<string, string>>
    readonly used?: Readonly<Record<string, string>>
  }
}

const create = async (client: Client, plural: string, kind: string, name: string, more: object = {}, query = '') => {
  const answer = await client.request('POST', `${base}/${plural}${query}`, {
    body: { apiVersion: 'v1', kind, metadata: { name }, ...more },
  })
  return { status: answer.status, message: json(answer).message }
}
const configMap = (client: Client, name: string, query = '') =>
  create(client, 'configmaps', 'ConfigMap', name, {}, query)

const usedOf = async (client: Client, name = 'q') =>
  json<QuotaShown>(await client.request('GET', `${base}/resourcequotas/${name}`)).status.used ?? {}
const uses = (client: Client, resource: string, amount: string) =>
  waitFor(`${resource} of the quota to be ${amount}`, async () => (await usedOf(client))[resource] === amount)

async function limit(client: Client, hard: Readonly<Record<string, string>>, spec: object = {}): Promise<void> {
  await create(client, 'resourcequotas', 'ResourceQuota', 'q', { spec: { hard, ...spec } })
  await waitFor(
    'the quota to be counted',
    async () => Object.keys(await usedOf(client)).length === Object.keys(hard).length,
  )
}

/** Returns how many of the concurrent creates were admitted. The others must be rejected by the quota. */
async function crowd(clients: readonly Client[], count: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => configMap(clients[i % clients.length]!, `c${i}`)),
  )
  for (const { status, message } of answers) {
    if (status !== 201)
      assert.match(
        `${status} ${message}`,
        new RegExp(
          String.raw`^403 configmaps "c\d+" is forbidden: exceeded quota: q, requested: con` +
            'figmaps=1, used: configmaps=10, ' +
            'limited: configmaps=10$',
        ),
      )
  }
  return answers.filter(({ status }) => status === 201).length
}

test('a quota of 10 admits 10 of 100 concurrent creates', async (t) => {
  const server = await startTestServer(t)
  const clients = [clientOf(t, 'HTTP/2', server), clientOf(t, 'HTTP/1.1', server)]
  await limit(clients[0]!, { configmaps: '10' })
  assert.equal(await crowd(clients, 100), 10)
  assert.deepEqual(await usedOf(clients[0]!), { configmaps: '10' })
  assert.deepEqual(server.logLines, [])
})

test('two servers on one store admit no more than one', async (t) => {
  const store = memoryStore()
  const servers = [await serve(t, store), await serve(t, store)]
  t.after(() => store.close())
  const clients = servers.map((server) => clientOf(t, 'HTTP/2', server))
  await limit(clients[0]!, { configmaps: '10' })
  await waitFor(
    'the other server to know the quota',
    async () => (await configMap(clients[1]!, 'probe', '?dryRun=All')).status === 201,
  )
  assert.equal(await crowd(clients, 100), 10)
  await uses(clients[1]!, 'configmaps', '10')
})

test('deleted, finished and rejected objects are not counted', async (t) => {
  const server = await startTestServer(t)
  const client = clientOf(t, 'HTTP/2', server)
  await limit(client, { configmaps: '2', pods: '1', 'count/pods': '5' })
  assert.equal((await configMap(client, 'one')).status, 201)
  // The name is taken: the reservation is released.
  assert.equal((await configMap(client, 'one')).status, 409)
  await uses(client, 'configmaps', '1')
  await client.request('DELETE', `${base}/configmaps/one`)
  await uses(client, 'configmaps', '0')

  const pod = (name: string) =>
    create(client, 'pods', 'Pod', name, { spec: { containers: [{ name: 'c', image: 'i' }] } })
  assert.equal((await pod('one')).status, 201)
  assert.match(
    String((await pod('two')).message),
    /exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1$/,
  )
  await client.request('PATCH', `${base}/pods/one/status`, {
    body: { status: { phase: 'Succeeded' } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  await uses(client, 'pods', '0')
  assert.equal((await usedOf(client))['count/pods'], '1')
  assert.equal((await pod('two')).status, 201)
})

test('a dry run is checked but not charged', async (t) => {
  const client = clientOf(t, 'HTTP/2', await startTestServer(t))
  await limit(client, { configmaps: '1' })
  assert.equal((await configMap(client, 'dry', '?dryRun=All')).status, 201)
  assert.deepEqual(await usedOf(client), { configmaps: '0' })
  assert.equal((await configMap(client, 'one')).status, 201)
  assert.equal((await configMap(client, 'dry', '?dryRun=All')).status, 403)
})

test('objects older than the quota are counted, and changed limits take effect', async (t) => {
  const client = clientOf(t, 'HTTP/2', await startTestServer(t))
  for (const name of ['one', 'two']) await configMap(client, name)
  await limit(client, { configmaps: '1' })
  assert.deepEqual(await usedOf(client), { configmaps: '2' })
  assert.match(String((await configMap(client, 'three')).message), /used: configmaps=2, limited: configmaps=1$/)
  const more = {
    body: { spec: { hard: { configmaps: '3', secrets: '1' } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  }
  await client.request('PATCH', `${base}/resourcequotas/q`, more)
  await uses(client, 'secrets', '0')
  assert.equal((await configMap(client, 'three')).status, 201)
})

test('custom resources are counted', async (t) => {
  const client = clientOf(t, 'HTTP/2', await startTestServer(t))
  await limit(client, {})
  await client.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
  })
  const path = '/apis/example.com/v1/namespaces/default/widgets'
  const widget = (name: string) =>
    client.request('POST', path, { body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } } })
  await waitFor('widgets to be served', async () => (await widget('one')).status === 201)
  const hard = {
    body: { spec: { hard: { 'count/widgets.example.com': '2' } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  }
  await client.request('PATCH', `${base}/resourcequotas/q`, hard)
  await uses(client, 'count/widgets.example.com', '1')
  assert.equal((await widget('two')).status, 201)
  const refused = await widget('three')
  assert.match(
    String(json(refused).message),
    /^widgets\.example\.com "three" is forbidden: exceeded quota: q, requested: count\/widgets\.example\.com=1/,
  )
  await client.request('DELETE', `${path}/two`)
  await uses(client, 'count/widgets.example.com', '1')
})

test('devices count together with extended resources', async (t) => {
  const client = clientOf(t, 'HTTP/2', await startTestServer(t))
  const requests = (name: string) => `requests.${name}`
  const [explicit, implicit] = ['example.com/gpu', 'deviceclass.resource.kubernetes.io/gpu']
  const apis = '/apis/resource.k8s.io/v1'
  const deviceClass = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceClass',
    metadata: { name: 'gpu' },
    spec: { extendedResourceName: explicit },
  }
  assert.equal((await client.request('POST', `${apis}/deviceclasses`, { body: deviceClass })).status, 201)
  await limit(client, { [requests(explicit)]: '3', [requests(implicit)]: '2' })
  const resources = { requests: { [explicit]: '2' }, limits: { [explicit]: '2' } }
  assert.equal(
    (await create(client, 'pods', 'Pod', 'p', { spec: { containers: [{ name: 'c', image: 'i', resources }] } })).status,
    201,
  )
  const claim = async (name: string, count: number) => {
    const spec = {
      devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count } }] },
    }
    const body = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: { name }, spec }
    return client.request('POST', `${apis}/namespaces/default/resourceclaims`, { body })
  }
  await waitFor(
    'claims to be counted',
    async () => (await claim('one', 1)).status === 201 && (await usedOf(client))[requests(explicit)] === '3',
  )
  assert.deepEqual(await usedOf(client), { [requests(explicit)]: '3', [requests(implicit)]: '1' })
  assert.match(
    String(json(await claim('two', 1)).message),
    new RegExp(
      String.raw`^resourceclaims\.resource\.k8s\.io "two" is forbidden: exceeded quota: ` +
        String.raw`q, requested: requests\.example\.com/gp` +
        String.raw`u=1, used: requests\.example\.com/gpu=3, limited: requests\.example\.com/gpu=3$`,
    ),
  )
  await client.request('DELETE', `${base}/pods/p?gracePeriodSeconds=0`)
  await uses(client, requests(explicit), '1')
  assert.equal((await claim('two', 1)).status, 201)
  await uses(client, requests(implicit), '2')
})

test('kubectl shows the usage', async (t) => {
  const cluster = await testCluster(t)
  for (const program of installedKubectls()) {
    const namespace = `quota-${program.minor}`
    const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder, namespace)
    await kubectl.ok(`create namespace ${namespace}`)
    await kubectl.ok('create quota best --hard=secrets=2,requests.storage=5Gi')
    await waitFor('the quota to be counted', async () =>
      /requests\.storage: 0\/5Gi, secrets: 0\/2/.test(await kubectl.ok('get quota best')),
    )
    await kubectl.ok('create secret generic one')
    await kubectl.ok('describe quota best', /requests\.storage +0 +5Gi\nsecrets +1 +2/)
    await kubectl.ok('create secret generic two')
    await kubectl.fails(
      'create secret generic three',
      /secrets "three" is forbidden: exceeded quota: best, requested: secrets=1, used: secrets=2, limited: secrets=2/,
    )
  }
})
