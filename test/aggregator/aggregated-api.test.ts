import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import test from 'node:test'
import type { TestCluster } from '../support/test-cluster.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { apiServicePath, registered } from './orchard.ts'

const apples = '/apis/orchard.example.com/v1/namespaces/default/apples'
const apple = (name: string): object => ({
  apiVersion: 'orchard.example.com/v1',
  kind: 'Apple',
  metadata: { name },
  spec: { colour: 'red' },
})

/** Returns the status and the text of an answer, also of an error. */
async function ask(
  { client }: TestCluster,
  path: string,
  options: { method?: string; headers?: Record<string, string | string[]>; body?: string } = {},
) {
  const { ca, cert, key, url } = client
  const sent = request(new URL(path, url), {
    ca,
    cert,
    key,
    agent: false,
    method: options.method,
    headers: options.headers,
  })
  const [response]: IncomingMessage[] = await once(sent.end(options.body), 'response')
  return {
    status: response!.statusCode,
    headers: response!.headers,
    text: Buffer.concat(await response!.toArray()).toString(),
  }
}

test('objects of an aggregated API are created, read, patched, listed and deleted like other objects', async (t) => {
  const cluster = await testCluster(t)
  await registered(t, cluster)
  await cluster.call('POST', apples, apple('boskoop'))
  assert.equal((await cluster.call('GET', `${apples}/boskoop`)).metadata.name, 'boskoop')
  const changed = await cluster.call(
    'PATCH',
    `${apples}/boskoop`,
    { spec: { colour: 'green' } },
    'application/merge-patch+json',
  )
  assert.deepEqual(changed.spec, { colour: 'green' })
  assert.equal(((await cluster.call('GET', apples)).items as unknown[]).length, 1)
  await cluster.call('DELETE', `${apples}/boskoop`)
  const gone = await ask(cluster, `${apples}/boskoop`)
  assert.equal(gone.status, 404)
  assert.match(gone.text, /apples.orchard.example.com \\"boskoop\\" not found/)
})

test('the extension server gets the name of the user, and none of their credentials', async (t) => {
  const user = { name: 'anna', uid: '7', groups: ['gardeners', 'a,b'], extra: { 'example.com/Scope%': ['x', 'y'] } }
  const cluster = await testCluster(t, { tokens: [{ token: 'secret', user }] })
  await registered(t, cluster)
  await cluster.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'gardeners' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'gardeners' }],
  })
  const { ca, url } = cluster.client
  const headers = {
    authorization: 'Bearer secret',
    'x-remote-user': 'system:admin',
    'x-remote-group': 'system:masters',
    'x-remote-extra-a': 'b',
    cookie: 'a=b',
  }
  const [response]: IncomingMessage[] = await once(
    request(new URL(`${apples}/a/who`, url), { ca, agent: false, headers }).end(),
    'response',
  )
  const seen = JSON.parse(Buffer.concat(await response!.toArray()).toString())
  assert.equal(seen.user, 'anna')
  assert.equal(seen.uid, '7')
  assert.deepEqual(seen.groups, ['gardeners', 'a,b', 'system:authenticated'])
  assert.deepEqual(seen.extra, { 'x-remote-extra-example.com%2fscope%25': ['x', 'y'] })
  assert.equal(seen.headers.authorization, undefined)
  assert.equal(seen.headers.cookie, 'a=b')
  assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1')
})

test('a watch of an aggregated API sends each event when it happens, and ends with its client', async (t) => {
  const cluster = await testCluster(t)
  await registered(t, cluster)
  const { ca, cert, key, url } = cluster.client
  const [events]: IncomingMessage[] = await once(
    request(new URL(`${apples}?watch=true`, url), { ca, cert, key, agent: false }).end(),
    'response',
  )
  const seen: string[] = []
  events!.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) {
      const { type, object } = JSON.parse(line)
      seen.push(`${type} ${object.metadata.name}`)
    }
  })
  await cluster.call('POST', apples, apple('one'))
  await waitFor('the first event', () => seen.length === 1)
  await cluster.call('DELETE', `${apples}/one`)
  await waitFor('the second event', () => seen.length === 2)
  assert.deepEqual(seen, ['ADDED one', 'DELETED one'])
  events!.destroy()
})

test('a server that stops ends the watches of aggregated APIs immediately', async (t) => {
  const cluster = await testCluster(t)
  await registered(t, cluster)
  const { ca, cert, key, url } = cluster.client
  const [events]: IncomingMessage[] = await once(
    request(new URL(`${apples}?watch=true`, url), { ca, cert, key, agent: false }).end(),
    'response',
  )
  events!.on('error', () => {}).resume()
  const closed = once(events!, 'close')
  const stopped = cluster.stop({ graceMs: 60_000 })
  await closed
  await stopped
})

test('bodies stream both ways: the answer to the first part precedes the rest of the request', async (t) => {
  const cluster = await testCluster(t)
  await registered(t, cluster)
  const { ca, cert, key, url } = cluster.client
  const sent = request(new URL(`${apples}/a/echo`, url), { ca, cert, key, agent: false, method: 'POST' })
  sent.write('first')
  const [response]: IncomingMessage[] = await once(sent, 'response')
  const [piece] = await once(response!, 'data')
  assert.equal(String(piece), 'first')
  sent.end('second')
  assert.equal(Buffer.concat(await response!.toArray()).toString(), 'second')
})

test('an endless answer ends with the timeout of its request', async (t) => {
  const cluster = await testCluster(t, { apiServerFlags: ['--request-timeout=1s'] })
  await registered(t, cluster)
  const { ca, cert, key, url } = cluster.client
  const sent = request(new URL(`${apples}/a/echo`, url), { ca, cert, key, agent: false, method: 'POST' })
  sent.on('error', () => {})
  const sending = setInterval(() => sent.write('more'), 50)
  t.after(() => clearInterval(sending))
  const [response]: IncomingMessage[] = await once(sent, 'response')
  await assert.rejects(response!.toArray(), { message: 'aborted' })
})

test('a large body is proxied completely', async (t) => {
  const cluster = await testCluster(t)
  await registered(t, cluster)
  const body = 'apple'.repeat(1_000_000)
  const { text } = await ask(cluster, `${apples}/a/echo`, { method: 'POST', body })
  assert.ok(text === body, `${text.length} of ${body.length} bytes came back`)
})

test('an upgraded connection carries bytes both ways; a refused upgrade has the response of the server', async (t) => {
  const cluster = await testCluster(t)
  await registered(t, cluster)
  const { ca, cert, key, url } = cluster.client
  const upgrade = (path: string) =>
    request(new URL(path, url), {
      ca,
      cert,
      key,
      agent: false,
      headers: { connection: 'Upgrade', upgrade: 'apples/1' },
    }).end()
  const [response, socket] = await once(upgrade(`${apples}/a/talk`), 'upgrade')
  assert.equal(response.statusCode, 101)
  assert.equal(response.headers.upgrade, 'apples/1')
  assert.equal(response.headers['x-user'], 'kubernetes-admin')
  socket.write('hello')
  const [piece] = await once(socket, 'data')
  assert.equal(String(piece), 'hello')
  const closed = once(socket, 'close')
  socket.end()
  await closed
  const [refused]: IncomingMessage[] = await once(upgrade(`${apples}/a/refuse`), 'response')
  assert.equal(refused!.statusCode, 403)
  assert.equal(Buffer.concat(await refused!.toArray()).toString(), 'no!')
})

test('an upgrade of a path without upgrades is answered like a plain request', async (t) => {
  const cluster = await testCluster(t)
  const { status, text } = await ask(cluster, '/api/v1/namespaces/default', {
    headers: { connection: 'Upgrade', upgrade: 'websocket' },
  })
  assert.equal(status, 200)
  assert.equal(JSON.parse(text).metadata.name, 'default')
})

test('without its server a group version answers 503 in plain text; other groups are not affected', async (t) => {
  const cluster = await testCluster(t)
  const extension = await registered(t, cluster)
  await extension.stop()
  const refused = await ask(cluster, apples)
  assert.equal(refused.status, 503)
  assert.equal(refused.headers['content-type'], 'text/plain; charset=utf-8')
  assert.match(
    refused.text,
    /^(error trying to reach service: dial tcp .*: connect: connection refused|service unavailable)\n$/,
  )
  assert.equal((await ask(cluster, '/apis/apps/v1/deployments')).status, 200)
  assert.equal((await ask(cluster, '/apis')).status, 200)
})

test('a group whose APIService is deleted is 404', async (t) => {
  const cluster = await testCluster(t)
  await registered(t, cluster)
  await cluster.call('DELETE', apiServicePath)
  await waitFor('the group is gone', async () => (await ask(cluster, apples)).status === 404)
})
