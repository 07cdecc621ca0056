/** The client's connection: credentials against a real server, and servers that fail, respond late or not at all. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createProxy } from 'node:http'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import { createServer as createSecureServer, request as secureRequest } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { Connection, type ServerAccess } from '../../src/client/connection/connection.ts'
import { loadAccess } from '../../src/client/connection/load-access.ts'
import { SharedInformers } from '../../src/client/informers/shared-informers.ts'
import { configMaps, namespaces, pods } from '../../src/client/kinds.ts'
import { isCertainlyNotApplied } from '../../src/client/rest/api-errors.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { StatusError } from '../../src/machinery/status-error.ts'
import { bareServer } from '../support/bare-server.ts'
import { type Lifetime, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

function clientOf(t: Lifetime, access: ServerAccess): RestClient {
  const connection = new Connection(access)
  t.after(() => connection.close())
  return new RestClient(connection)
}

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }

/** A server with scripted responses, over HTTP/2 without TLS. */
async function scriptedServer(
  t: Lifetime,
  respond: (stream: ServerHttp2Stream, method: string, count: number) => void,
): Promise<RestClient> {
  let count = 0
  const server = createServer()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    respond(stream, headers[':method'] ?? '', ++count)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return clientOf(t, { url: `http://127.0.0.1:${port}`, dial: () => connect(port, '127.0.0.1') })
}

const succeed = (stream: ServerHttp2Stream): void => {
  stream.respond({ ':status': 200 })
  stream.end(JSON.stringify(object))
}

test('a request is retried after the time in Retry-After', async (t) => {
  const client = await scriptedServer(t, (stream, _method, count) => {
    if (count > 2) return succeed(stream)
    stream.respond({ ':status': count === 1 ? 429 : 503, 'retry-after': '0' })
    stream.end('{}')
  })
  assert.equal((await client.create(configMaps, object)).metadata.name, 'a')
})

test('an incomplete response is read again; for a write it is an error', async (t) => {
  const client = await scriptedServer(t, (stream, _method, count) => {
    if (count === 2 || count > 5) return succeed(stream)
    stream.respond({ ':status': 200 })
    stream.write('{"kind":', () => stream.session?.destroy())
  })
  assert.equal((await client.get(configMaps, 'default', 'a')).metadata.name, 'a')
  await assert.rejects(
    client.create(configMaps, object),
    /POST \/api\/v1\/namespaces\/default\/configmaps: the response broke off/,
  )
  await assert.rejects(client.delete(configMaps, 'default', 'a'), /broke off/)
})

test('a conflict after a lost response has a cause, since the first attempt may have been applied', async (t) => {
  const client = await scriptedServer(t, (stream, _method, count) => {
    if (count === 1) return void stream.session?.destroy()
    stream.respond({ ':status': 409 })
    stream.end(
      JSON.stringify({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'Conflict',
        message: 'too late',
        code: 409,
      }),
    )
  })
  const update = (): Promise<unknown> =>
    client.update(configMaps, { ...object, metadata: { ...object.metadata, resourceVersion: '1' } })
  const failure = async (): Promise<unknown> => update().catch((error: unknown) => error)
  assert.ok(!isCertainlyNotApplied(await failure()))
  const second = await failure()
  assert.ok(second instanceof StatusError && second.reason === 'Conflict' && isCertainlyNotApplied(second))
})

test('after a GOAWAY, active requests finish and new ones open another connection', async (t) => {
  const client = await scriptedServer(t, (stream, _method, count) => {
    if (count === 1) {
      stream.session?.goaway()
      setImmediate(() => succeed(stream))
    } else succeed(stream)
  })
  assert.equal((await client.get(configMaps, 'default', 'a')).metadata.name, 'a')
  assert.equal((await client.create(configMaps, object)).metadata.name, 'a')
})

test('an unreachable server is named, and pending requests end with their client', async (t) => {
  const client = clientOf(t, { url: 'https://127.0.0.1:1' })
  await assert.rejects(
    client.get(pods, 'default', 'a'),
    /https:\/\/127\.0\.0\.1:1 is unreachable: the server refuses connections/,
  )
  const connection = new Connection({ url: 'https://127.0.0.1:1' })
  const pending = new RestClient(connection).get(pods, 'default', 'a')
  connection.close()
  await assert.rejects(pending, /canceled|closed/)
})

test('a client respects its rate limit', async (t) => {
  const { client: access } = await testCluster(t)
  const client = clientOf(t, { ...access, rateLimit: { qps: 50, burst: 5 } })
  const began = performance.now()
  await Promise.all(Array.from({ length: 15 }, () => client.get(namespaces, '', 'default')))
  assert.ok(performance.now() - began > 150)
})

test('all kinds of credentials in a kubeconfig work', async (t) => {
  const tokens = [{ token: 'T', user: { name: 'admin', groups: ['system:masters'] } }]
  const { url, client: admin, folder } = await testCluster(t, { tokens })
  const { ca } = admin
  const whoami = async (cluster: object, user: object) => {
    const file = join(folder, 'config')
    const config = {
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    }
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }))
    const client = clientOf(t, await loadAccess({ kubeconfig: file }))
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const { status } = await client.request<{ status: { userInfo: { username: string; groups: string[] } } }>(
      'POST',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { body: review },
    )
    return status.userInfo.username
  }
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
  const cluster = { server: url, 'certificate-authority-data': base64(ca) }
  assert.equal(await whoami(cluster, { token: 'T' }), 'admin')
  writeFileSync(join(folder, 'token'), 'T\n')
  assert.equal(await whoami(cluster, { tokenFile: 'token' }), 'admin')
  const certificate = { 'client-certificate-data': base64(admin.cert), 'client-key-data': base64(admin.key) }
  assert.equal(await whoami(cluster, certificate), 'kubernetes-admin')
  assert.equal(await whoami(cluster, { ...certificate, as: 'jane' }), 'jane')
  const exec = (status: object) => ({
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'echo',
      args: [JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', status })],
    },
  })
  assert.equal(await whoami(cluster, exec({ token: 'T' })), 'admin')
  assert.equal(
    await whoami(cluster, exec({ clientCertificateData: admin.cert, clientKeyData: admin.key })),
    'kubernetes-admin',
  )
  assert.equal(await whoami({ server: url, 'insecure-skip-tls-verify': true }, { token: 'T' }), 'admin')
  const byName = {
    ...cluster,
    server: url.replace('127.0.0.1', 'localhost'),
    'tls-server-name': 'kubernetes.default.svc',
  }
  assert.equal(await whoami(byName, { token: 'T' }), 'admin')
  await assert.rejects(
    whoami({ ...cluster, 'tls-server-name': 'elsewhere.example' }, { token: 'T' }),
    /is unreachable: .*elsewhere\.example/,
  )

  const connects: string[] = []
  const proxy = createProxy().on('connect', (request, socket) => {
    connects.push(request.url ?? '')
    const [host = '', port] = (request.url ?? '').split(':')
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    for (const side of [socket, upstream]) side.on('error', () => {})
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close())
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  assert.equal(await whoami({ ...cluster, 'proxy-url': proxyUrl }, { token: 'T' }), 'admin')
  assert.deepEqual(connects, [new URL(url).host])
})

test('uploads that the server rejects early do not exhaust the connection', async (t) => {
  const client = await scriptedServer(t, (stream, method) => {
    if (method === 'GET') return succeed(stream)
    stream.respond({ ':status': 413 })
    stream.end(JSON.stringify({ kind: 'Status', code: 413, reason: 'RequestEntityTooLarge', message: 'too large' }))
  })
  // In total more than the memory limit of a connection.
  const body = { data: 'x'.repeat(20 * 1024 * 1024) }
  for (let count = 0; count < 16; count++)
    await assert.rejects(client.request('POST', '/api/v1/namespaces', { body }), { code: 413 })
  assert.equal((await client.get(configMaps, 'default', 'a')).metadata.name, 'a')
})

/** A reverse proxy that only speaks HTTP/1.1. */
async function http1Proxy(
  t: Lifetime,
  { client }: TestCluster,
): Promise<{ readonly url: string; readonly ca: string; readonly connections: () => number }> {
  const authority = await makeAuthority('proxies', new Date())
  const pair = await issueCertificate(
    authority,
    { commonName: 'proxy', usage: 'server', hosts: ['127.0.0.1'] },
    new Date(),
  )
  const { ca, cert, key, url } = client
  const server = createSecureServer(pair, (request, response) => {
    const forwarded = secureRequest(new URL(request.url ?? '/', url), {
      method: request.method,
      headers: request.headers,
      ca,
      cert,
      key,
      agent: false,
    })
    forwarded.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.on('error', () => response.destroy()).pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    request.on('error', () => forwarded.destroy()).pipe(forwarded)
  })
  let connections = 0
  server.on('secureConnection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: authority.cert,
    connections: () => connections,
  }
}

test('a server without HTTP/2 gets HTTP/1.1', async (t) => {
  const proxy = await http1Proxy(t, await testCluster(t, bareServer))
  const client = clientOf(t, proxy)
  const wanted = 'abcdefgh'.split('')
  await client.create(configMaps, { ...object, data: { a: 'ä' } })
  assert.deepEqual((await client.get(configMaps, 'default', 'a')).data, { a: 'ä' })
  await assert.rejects(client.get(configMaps, 'default', 'none'), { code: 404 })
  // Sequential requests share a connection.
  assert.equal(proxy.connections(), 1)
  const informers = new SharedInformers(client, () => {})
  t.after(() => informers.stop())
  const seen = informers.of(configMaps, { namespace: 'default' })
  await informers.synced(configMaps, { namespace: 'default' })
  await Promise.all(
    wanted.map((name) =>
      client.create(configMaps, { ...object, metadata: { name: `more-${name}`, namespace: 'default' } }),
    ),
  )
  await waitFor('all to be seen', () => wanted.every((name) => seen.get('default', `more-${name}`)))
  const body = { ...object, data: { large: 'x'.repeat(5_000_000) } }
  await assert.rejects(client.request('POST', '/api/v1/namespaces/default/configmaps', { body }))
  assert.equal((await client.get(configMaps, 'default', 'a')).metadata.name, 'a')
})

test('HTTP/1.1 requests end when they are aborted, and with their client', async (t) => {
  const proxy = await http1Proxy(t, await testCluster(t, bareServer))
  const connection = new Connection(proxy)
  t.after(() => connection.close())
  const client = new RestClient(connection)
  const { metadata } = await client.get(namespaces, '', 'default')
  const watch = async (signal: AbortSignal) => {
    for await (const _ of client.watch(configMaps, {
      namespace: 'default',
      resourceVersion: metadata.resourceVersion ?? '',
      signal,
    }))
      return 'event'
    return 'ended'
  }
  const abort = new AbortController()
  const [canceled, closed] = [watch(abort.signal), watch(new AbortController().signal)]
  abort.abort()
  await assert.rejects(canceled, /was canceled/)
  connection.close()
  await assert.rejects(closed)
  await assert.rejects(client.get(configMaps, 'default', 'a'), /the client is closed/)
})

/** A SOCKS 5 proxy that requires `user` with password `secret`, and records the destinations. */
async function socksProxy(t: Lifetime): Promise<{ readonly port: number; readonly destinations: string[] }> {
  const destinations: string[] = []
  const server = createTcpServer((socket) => {
    const steps = [
      () => socket.write(Buffer.from([5, 2])),
      (message: Buffer) =>
        socket.write(Buffer.from([1, message.includes('user') && message.includes('secret') ? 0 : 1])),
      (message: Buffer) => {
        const host = message.subarray(5, 5 + message[4]!).toString()
        const port = message.readUInt16BE(5 + message[4]!)
        destinations.push(`${host}:${port}`)
        const to = connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
          socket.pipe(to).pipe(socket)
        })
        to.on('error', () => socket.destroy())
        socket.on('close', () => to.destroy())
      },
    ]
    socket.on('error', () => {})
    const step = (message: Buffer): void => {
      steps.shift()?.(message)
      if (steps.length > 0) socket.once('data', step)
      else socket.pause()
    }
    socket.once('data', step)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, destinations }
}

test('a SOCKS 5 proxy is used with the user name and password of its URL', async (t) => {
  const { client: access } = await testCluster(t, bareServer)
  const { port, destinations } = await socksProxy(t)
  const url = access.url.replace('127.0.0.1', 'localhost')
  const client = clientOf(t, { ...access, url, proxyUrl: `socks5://user:secret@127.0.0.1:${port}` })
  assert.equal((await client.get(namespaces, '', 'default')).metadata.name, 'default')
  assert.deepEqual(destinations, [new URL(url).host])
  const stranger = clientOf(t, { ...access, proxyUrl: `socks5://user:wrong@127.0.0.1:${port}` })
  await assert.rejects(
    stranger.get(namespaces, '', 'default'),
    /through the proxy .*: it rejected the user name and password/,
  )
})
