/**
 * Identity headers from clients that may not send them: over both protocols, in all spellings, also to proxied
 * backends.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { connect } from 'node:http2'
import { request } from 'node:https'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { opensslFolder } from '../../authentication/certificates/openssl.ts'
import { binding, rbac, userSubject } from '../../authorization/users.ts'
import { backend, needsAddress, pod } from '../../proxy/backend.ts'
import { type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'

const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

/** Spellings of a header that some software treats as equal. */
const spellings = (name: string): string[] => [
  name,
  name.toLowerCase(),
  name.toUpperCase(),
  name.replaceAll('-', '_'),
  name.replace('-', '_'),
]

const claims = [
  ...spellings('X-Remote-User').map((name) => [name, 'kubernetes-admin']),
  ...spellings('X-Remote-Group').flatMap((name) => [
    [name, 'system:masters'],
    [name, 'system:nodes'],
  ]),
  ...spellings('X-Remote-Uid').map((name) => [name, '0']),
  ...spellings('X-Remote-Extra-Scopes').map((name) => [name, 'all']),
  ['X-Forwarded-User', 'kubernetes-admin'],
  ['Forwarded', 'for=127.0.0.1;by=127.0.0.1'],
  ['X-Forwarded-Client-Cert', 'Subject="CN=kubernetes-admin,O=system:masters"'],
  ['SSL-Client-Verify', 'SUCCESS'],
] as const

/** Sends a SelfSubjectReview over HTTP/1.1 with these header lines, byte by byte, and returns the answer. */
async function overHttp1(cluster: TestCluster, lines: readonly (readonly string[])[]): Promise<string> {
  const { hostname: host, port } = new URL(cluster.url)
  const socket = connectTls({ host, port: Number(port), ca: cluster.client.ca, ALPNProtocols: ['http/1.1'] })
  const heads = [
    'Host: x',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${review.length}`,
    ...lines.map((line) => line.join(': ')),
  ]
  socket.write(`POST ${path} HTTP/1.1\r\n${heads.join('\r\n')}\r\n\r\n${review}`)
  return Buffer.concat(await socket.toArray()).toString()
}

test('identity headers are ignored without a certificate of a front proxy', async (t) => {
  const cluster = await testCluster(t, { tokens: [{ token: 'eve', user: { name: 'eve', groups: [] } }] })
  const anonymous = /^HTTP\/1\.1 403 [\s\S]*User \\"system:anonymous\\" cannot create/
  assert.match(await overHttp1(cluster, claims), anonymous)
  // A Connection header that names the header as hop-by-hop, then a folded line.
  assert.match(await overHttp1(cluster, [...claims, ['Connection', 'X-Remote-User, Authorization']]), anonymous)
  assert.match(
    await overHttp1(cluster, [['X-A', 'b\r\n X-Remote-User: admin']]),
    /^HTTP\/1\.1 400 |User \\"system:anonymous\\"/,
  )
  assert.match(await overHttp1(cluster, [['X-Remote-User ', 'kubernetes-admin']]), /^HTTP\/1\.1 400 /)
  const own = await overHttp1(cluster, [['Authorization', 'Bearer eve'], ...claims])
  assert.match(own, /"username": ?"eve"/)
  assert.doesNotMatch(own, /masters|system:nodes|kubernetes-admin|all/)
  // As upstream, the first of two headers counts; they are not joined.
  assert.match(
    await overHttp1(cluster, [
      ['Authorization', 'Bearer eve'],
      ['Authorization', 'Bearer T'],
    ]),
    /"username": ?"eve"|^HTTP\/1\.1 40[01]/,
  )
})

test('identity headers are ignored without a certificate of a front proxy (HTTP/2)', async (t) => {
  const cluster = await testCluster(t, { tokens: [{ token: 'eve', user: { name: 'eve', groups: [] } }] })
  const session = connect(cluster.url, { ca: cluster.client.ca })
  t.after(() => session.destroy())
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of claims) headers[name!.toLowerCase()] = [headers[name!.toLowerCase()] ?? [], value!].flat()
  const ask = async (more: Record<string, string>) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/json',
      ...headers,
      ...more,
    })
    stream.end(review)
    return Buffer.concat(await stream.toArray()).toString()
  }
  assert.match(await ask({}), /User \\"system:anonymous\\" cannot create/)
  const own = await ask({ authorization: 'Bearer eve' })
  assert.match(own, /"username": ?"eve"/)
  assert.doesNotMatch(own, /masters|system:nodes|kubernetes-admin/)
})

test('user certificates do not act as front proxies, nor front proxy certificates as users', async (t) => {
  const proxies = opensslFolder(t).authority('proxies')
  const flags = [
    `--requestheader-client-ca-file=${proxies.file}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
  ]
  const cluster = await testCluster(t, { apiServerFlags: flags })
  const usernameOf = async (pair: { readonly cert: string; readonly key: string }, headers: Record<string, string>) => {
    const { ca, url } = cluster.client
    const sent = request(new URL(path, url), {
      ca,
      ...pair,
      agent: false,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
    })
    const [response]: IncomingMessage[] = await once(sent.end(review), 'response')
    const body = JSON.parse(Buffer.concat(await response!.toArray()).toString())
    return body.status?.userInfo?.username ?? body.code
  }
  const { cert, key } = (await cluster.user({ name: 'front-proxy-client', groups: [] })).client
  assert.equal(
    await usernameOf({ cert: cert!, key: key! }, { 'x-remote-user': 'kubernetes-admin' }),
    'front-proxy-client',
  )
  const proxy = proxies.issue('/CN=front-proxy-client')
  assert.equal(await usernameOf(proxy, { 'x-remote-user': 'jane' }), 'jane')
  assert.equal(await usernameOf(proxies.issue('/CN=other'), { 'x-remote-user': 'jane' }), 401)
  // The last common name counts.
  assert.equal(await usernameOf(proxies.issue('/CN=front-proxy-client/CN=other'), { 'x-remote-user': 'jane' }), 401)
  assert.equal(await usernameOf(proxies.issue('/O=system:masters/CN=front-proxy-client'), {}), 401)
  assert.equal(
    await usernameOf(proxies.issue('/CN=front-proxy-client', { usage: 'serverAuth' }), { 'x-remote-user': 'jane' }),
    401,
  )
  assert.equal(
    await usernameOf(proxies.issue('/CN=front-proxy-client', { days: -1 }), { 'x-remote-user': 'jane' }),
    401,
  )
})

test('proxied backends get neither credentials nor identity headers of the client', needsAddress, async (t) => {
  const cluster = await testCluster(t, { tokens: [{ token: 'eve', user: { name: 'eve', groups: [] } }] })
  const seen: IncomingMessage[] = []
  const listener: RequestListener = (message, response) => {
    seen.push(message)
    response.end('seen')
  }
  const { port, server } = await backend(t, listener)
  server.on('upgrade', (message: IncomingMessage, socket) => {
    seen.push(message)
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  })
  await pod(cluster, 'web', port)
  await allowProxy(cluster, 'eve')
  const { hostname: host, port: serverPort } = new URL(cluster.url)
  for (const more of [
    [],
    [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Protocol', 'base64url.bearer.authorization.k8s.io.ZXZl, v4'],
    ],
  ]) {
    const socket = connectTls({ host, port: Number(serverPort), ca: cluster.client.ca, ALPNProtocols: ['http/1.1'] })
    const lines = [
      ['Authorization', 'Bearer eve'],
      ['Host', 'x'],
      ...(more.length ? [] : [['Connection', 'close, X-Remote-User']]),
      ...more,
      ...claims,
    ]
    socket.write(
      'GET /api/v1/namespaces/default/pods/web/proxy/a ' +
        `HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`,
    )
    const answer = Buffer.concat(await socket.toArray()).toString()
    assert.match(answer, /^HTTP\/1\.1 (200|101)/)
  }
  assert.equal(seen.length, 2)
  for (const { rawHeaders } of seen) {
    const text = rawHeaders.join('\n')
    assert.doesNotMatch(text, /^(x[-_]remote|impersonate|authorization)/im)
    assert.doesNotMatch(text, /Bearer|base64url\.bearer/)
  }
})

async function allowProxy(cluster: TestCluster, user: string): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['pods/proxy'], verbs: ['*'] }]
  await cluster.call('POST', `${rbac}/clusterroles`, { metadata: { name: 'proxy' }, rules })
  await cluster.call('POST', `${rbac}/clusterrolebindings`, binding('proxy', 'ClusterRole', 'proxy', userSubject(user)))
}

test('nodes with loopback or link-local addresses cannot be proxied to', async (t) => {
  const cluster = await testCluster(t)
  const port = await loopbackServer(t)
  for (const [name, type, address] of [
    ['by-name', 'Hostname', 'localhost'],
    ['by-address', 'InternalIP', '127.0.0.1'],
    ['mapped', 'InternalIP', '::ffff:127.0.0.1'],
    ['nothing', 'InternalIP', '0.0.0.0'],
    ['link', 'InternalIP', '169.254.169.254'],
  ] as const) {
    await cluster.call('POST', '/api/v1/nodes', { metadata: { name } })
    await cluster.call(
      'PATCH',
      `/api/v1/nodes/${name}/status`,
      { status: { addresses: [{ type, address }] } },
      'application/merge-patch+json',
    )
    await assert.rejects(
      cluster.call('GET', `/api/v1/nodes/http:${name}:${port}/proxy/`),
      /400 .*address not allowed/,
      name,
    )
  }
})

/** A server on loopback that must not be reachable through the API. */
async function loopbackServer(t: Lifetime): Promise<number> {
  const server = createServer((_message, response) => response.end('secret'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as { port: number }).port
}

test('WebSockets to exec, attach and portforward need the verb create as well as get', async (t) => {
  const cluster = await testCluster(t, {
    tokens: ['eve', 'ann'].map((name) => ({ token: name, user: { name, groups: [] } })),
  })
  const pods = '/api/v1/namespaces/default/pods'
  await cluster.call('POST', pods, {
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'main', image: 'main' }] },
  })
  const resources = ['pods/exec', 'pods/attach', 'pods/portforward']
  for (const [user, verbs] of [
    ['eve', ['get']],
    ['ann', ['get', 'create']],
  ] as const) {
    await cluster.call('POST', `${rbac}/clusterroles`, {
      metadata: { name: user },
      rules: [{ apiGroups: [''], resources, verbs }],
    })
    await cluster.call('POST', `${rbac}/clusterrolebindings`, binding(user, 'ClusterRole', user, userSubject(user)))
  }
  for (const subresource of ['exec', 'attach', 'portforward']) {
    const get = async (user: string) => {
      const headers = { authorization: `Bearer ${user}` }
      const sent = request(new URL(`${pods}/web/${subresource}?command=sh&stdin=true`, cluster.url), {
        ca: cluster.client.ca,
        agent: false,
        headers,
      })
      const [response]: IncomingMessage[] = await once(sent.end(), 'response')
      return JSON.parse(Buffer.concat(await response!.toArray()).toString()).message
    }
    assert.equal(
      await get('eve'),
      `pods "web" is forbidden: User "eve" cannot create resource "pods/${subresource}" in API group "" in the ` +
        'namespace "default"',
    )
    assert.equal(await get('ann'), 'pod web does not have a host assigned')
  }
})
