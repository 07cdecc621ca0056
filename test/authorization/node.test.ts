/** The Node authorizer on a real server: permissions of kubelets from the first request on, while pods change. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { as, nodeUser } from './as-user.ts'

const core = '/api/v1/namespaces/default'
const n1 = nodeUser('n1')
const n2 = nodeUser('n2')

const podOn = (nodeName: string | undefined, name: string, secret: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    ...(nodeName && { nodeName }),
    serviceAccountName: 'runner',
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', secret: { secretName: secret } }],
  },
})

const make = (cluster: TestCluster, resource: string, name: string) =>
  cluster.call('POST', `${core}/${resource}`, { metadata: { name } })
const status = async (cluster: TestCluster, ...[user, path]: [typeof n1, string]): Promise<number> =>
  (await as(cluster, user, 'GET', `${core}/${path}`)).status
const becomes = (cluster: TestCluster, user: typeof n1, path: string, expected: number) =>
  waitFor(`${path} gives ${expected} to ${user.name}`, async () => (await status(cluster, user, path)) === expected)

test('a node reads the secrets of its pods only, older pods included', async (t) => {
  const cluster = await testCluster(t)
  await make(cluster, 'serviceaccounts', 'runner')
  for (const name of ['s1', 's2', 's3']) await make(cluster, 'secrets', name)
  await cluster.call('POST', `${core}/pods`, podOn('n1', 'before', 's1'))
  await cluster.call('POST', `${core}/pods`, podOn('n2', 'theirs', 's3'))
  // The first request of a node loads the graph.
  assert.equal(await status(cluster, n1, 'secrets/s1'), 200)
  assert.equal(await status(cluster, n1, 'secrets?fieldSelector=metadata.name%3Ds1'), 200)
  const refused = await as(cluster, n1, 'GET', `${core}/secrets/s3`)
  assert.equal(refused.status, 403)
  assert.match(
    refused.message,
    new RegExp(
      'cannot get resource "secrets" in API group "" in the namespace "default": no relationship found ' +
        "between node 'n1' and this object$",
    ),
  )
  assert.equal(await status(cluster, n1, 'secrets'), 403)
  for (const user of [nodeUser('n'), nodeUser('n1.'), nodeUser('N1'), nodeUser('n1/../n2'), nodeUser('')])
    assert.equal(await status(cluster, user, 'secrets/s1'), 403, user.name)
  assert.equal(await status(cluster, { name: 'system:node:n1' }, 'secrets/s1'), 403, 'the name alone')

  // A pod counts from its binding to its deletion.
  await cluster.call('POST', `${core}/pods`, podOn(undefined, 'waiting', 's2'))
  assert.equal(await status(cluster, n1, 'secrets/s2'), 403)
  await cluster.call('POST', `${core}/pods/waiting/binding`, {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'waiting' },
    target: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
  })
  await becomes(cluster, n1, 'secrets/s2', 200)
  await cluster.call(
    'PATCH',
    `${core}/pods/waiting/status`,
    { status: { phase: 'Running' } },
    'application/merge-patch+json',
  )
  assert.equal(await status(cluster, n1, 'secrets/s2'), 200)
  await cluster.call('DELETE', `${core}/pods/waiting?gracePeriodSeconds=0`)
  await becomes(cluster, n1, 'secrets/s2', 403)
  // A pod of the same name on another node does not give permissions to the old node.
  await cluster.call('DELETE', `${core}/pods/before?gracePeriodSeconds=0`)
  await cluster.call('POST', `${core}/pods`, podOn('n2', 'before', 's1'))
  await becomes(cluster, n2, 'secrets/s1', 200)
  assert.equal(await status(cluster, n1, 'secrets/s1'), 403)
})

test('a node reads the references of ephemeral containers of its pods', async (t) => {
  const cluster = await testCluster(t)
  await make(cluster, 'serviceaccounts', 'runner')
  for (const name of ['s1', 's2']) await make(cluster, 'secrets', name)
  await make(cluster, 'configmaps', 'm')
  await cluster.call('POST', `${core}/pods`, podOn('n1', 'p', 's1'))
  assert.deepEqual([await status(cluster, n1, 'secrets/s2'), await status(cluster, n1, 'configmaps/m')], [403, 403])
  const debug = (name: string, source: object) =>
    cluster.call(
      'PATCH',
      `${core}/pods/p/ephemeralcontainers`,
      { spec: { ephemeralContainers: [{ name, image: 'i', envFrom: [source] }] } },
      'application/strategic-merge-patch+json',
    )
  await debug('one', { secretRef: { name: 's2' } })
  await becomes(cluster, n1, 'secrets/s2', 200)
  await debug('two', { configMapRef: { name: 'm' } })
  await becomes(cluster, n1, 'configmaps/m', 200)
  assert.equal(await status(cluster, n1, 'secrets/s1'), 200)
})

test('a node reads its own Node and its own pods', async (t) => {
  const cluster = await testCluster(t)
  await make(cluster, 'serviceaccounts', 'runner')
  await cluster.call('POST', `${core}/pods`, podOn('n1', 'mine', 's'))
  await cluster.call('POST', `${core}/pods`, podOn('n2', 'theirs', 's'))
  const get = (path: string) => as(cluster, n1, 'GET', path)
  assert.equal((await get('/api/v1/nodes/n1')).status, 404, 'before it is registered')
  assert.match((await get('/api/v1/nodes/n2')).message, /node 'n1' cannot read 'n2', only its own Node object$/)
  assert.match((await get('/api/v1/nodes')).message, /node 'n1' cannot read all nodes, only its own Node object$/)
  assert.equal((await get('/api/v1/nodes?fieldSelector=metadata.name%3Dn1')).status, 200)
  const own = await get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1')
  assert.deepEqual(
    (own.body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
    ['mine'],
  )
  assert.match(
    (await get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')).message,
    /can only list\/watch pods with spec\.nodeName field selector$/,
  )
  assert.equal((await get('/api/v1/pods?fieldSelector=spec.nodeName!%3Dn1')).status, 403)
  assert.equal((await get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&watch=1&timeoutSeconds=1')).status, 200)
  assert.equal((await get(`${core}/pods/mine`)).status, 200)
  assert.equal((await get(`${core}/pods/theirs`)).status, 403)
})
