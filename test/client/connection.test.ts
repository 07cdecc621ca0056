/**
 * The client's connection: credentials against a real server, and what happens when a server answers badly, late, or
 * not at all.
 */
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
import { isSurelyRefused } from '../../src/client/rest/refusals.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { issueCertificate, makeAuthority } from '../../src/cluster/pki/certificates.ts'
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

/** A server that answers as the test says, in HTTP/2 without TLS. */
async function oddServer(
  t: Lifetime,
  answer: (stream: ServerHttp2Stream, method: string, count: number) => void,
): Promise<RestClient> {
  let count = 0
  const server = createServer()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    answer(stream, headers[':method'] ?? '', ++count)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return clientOf(t, { url: `http://127.0.0.1:${port}`, dial: () => connect(port, '127.0.0.1') })
}

const good = (stream: ServerHttp2Stream): void => {
  stream.respond({ ':status': 200 })
  stream.end(JSON.stringify(object))
}

test('a request that is put off is sent again when the server says', async (t) => {
  const client = await oddServer(t, (stream, _method, count) => {
    if (count > 2) return good(stream)
    stream.respond({ ':status': count === 1 ? 429 : 503, 'retry-after': '0' })
    stream.end('{}')
  })
  assert.equal((await client.create(configMaps, object)).metadata.name, 'a')
})

test('an answer that breaks off is read again; a write whose answer is lost says so', async (t) => {
  const client = await oddServer(t, (stream, _method, count) => {
    if (count === 2 || count > 5) return good(stream)
    stream.respond({ ':status': 200 })
    stream.write('{"kind":', () => stream.session?.destroy())
  })
  assert.equal((await client.get(configMaps, 'default', 'a')).metadata.name, 'a')
  await assert.rejects(
    client.create(configMaps, object),
    /POST \/api\/v1\/namespaces\/default\/configmaps: the answer broke off/,
  )
  await assert.rejects(client.delete(configMaps, 'default', 'a'), /broke off/)
})

test('an update whose answer was lost is sent again, and refused as too late: nobody knows that it was not done', async (t) => {
  const client = await oddServer(t, (stream, _method, count) => {
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
  assert.ok(!isSurelyRefused(await failure()))
  const second = await failure()
  assert.ok(second instanceof StatusError && second.reason === 'Conflict' && isSurelyRefused(second))
})

test('a connection that the server ends (GOAWAY) carries what is on it to its end, and the next request takes another', async (t) => {
  const client = await oddServer(t, (stream, _method, count) => {
    if (count === 1) {
      stream.session?.goaway()
      setImmediate(() => good(stream))
    } else good(stream)
  })
  assert.equal((await client.get(configMaps, 'default', 'a')).metadata.name, 'a')
  assert.equal((await client.create(configMaps, object)).metadata.name, 'a')
})

test('a server that is not there is named, and what waits for it ends with its client', async (t) => {
  const client = clientOf(t, { url: 'https://127.0.0.1:1' })
  await assert.rejects(
    client.get(pods, 'default', 'a'),
    /https:\/\/127\.0\.0\.1:1 cannot be reached: the server accepts no connections/,
  )
  const connection = new Connection({ url: 'https://127.0.0.1:1' })
  const asked = new RestClient(connection).get(pods, 'default', 'a')
  connection.close()
  await assert.rejects(asked, /given up|closed/)
})

test('a client that limits itself asks no faster than it may', async (t) => {
  const { client: access } = await testCluster(t)
  const client = clientOf(t, { ...access, rateLimit: { qps: 50, burst: 5 } })
  const began = performance.now()
  await Promise.all(Array.from({ length: 15 }, () => client.get(namespaces, '', 'default')))
  assert.ok(performance.now() - began > 150)
})

test('all kinds of credentials of a kubeconfig reach the server', async (t) => {
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
    /cannot be reached: .*elsewhere\.example/,
  )

  const asked: string[] = []
  const proxy = createProxy().on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    const [host = '', port] = (request.url ?? '').split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    for (const side of [socket, onward]) side.on('error', () => {})
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close())
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  assert.equal(await whoami({ ...cluster, 'proxy-url': proxyUrl }, { token: 'T' }), 'admin')
  assert.deepEqual(asked, [new URL(url).host])
})

test('uploads that the server refuses before it has them all leave nothing behind', async (t) => {
  const client = await oddServer(t, (stream, method) => {
    if (method === 'GET') return good(stream)
    stream.respond({ ':status': 413 })
    stream.end(JSON.stringify({ kind: 'Status', code: 413, reason: 'RequestEntityTooLarge', message: 'too large' }))
  })
  // More than a connection may hold.
  const body = { data: 'x'.repeat(20 * 1024 * 1024) }
  for (let count = 0; count < 16; count++)
    await assert.rejects(client.request('POST', '/api/v1/namespaces', { body }), { code: 413 })
  assert.equal((await client.get(configMaps, 'default', 'a')).metadata.name, 'a')
})

/** What stands before a cluster's server and speaks HTTP/1.1 alone, as many proxies do. */
async function olderProxy(
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
    const passed = secureRequest(new URL(request.url ?? '/', url), {
      method: request.method,
      headers: request.headers,
      ca,
      cert,
      key,
      agent: false,
    })
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.on('error', () => response.destroy()).pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.on('error', () => passed.destroy()).pipe(passed)
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

test('a server or proxy that speaks no HTTP/2 is spoken to in HTTP/1.1', async (t) => {
  const proxy = await olderProxy(t, await testCluster(t, bareServer))
  const client = clientOf(t, proxy)
  const wanted = 'abcdefgh'.split('')
  await client.create(configMaps, { ...object, data: { a: 'ä' } })
  assert.deepEqual((await client.get(configMaps, 'default', 'a')).data, { a: 'ä' })
  await assert.rejects(client.get(configMaps, 'default', 'none'), { code: 404 })
  // One after the other they share a connection.
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

test('what is under way over HTTP/1.1 ends when it is given up, and with its client', async (t) => {
  const proxy = await olderProxy(t, await testCluster(t, bareServer))
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
      return 'told'
    return 'ended'
  }
  const giving = new AbortController()
  const [given, closed] = [watch(giving.signal), watch(new AbortController().signal)]
  giving.abort()
  await assert.rejects(given, /given up/)
  connection.close()
  await assert.rejects(closed)
  await assert.rejects(client.get(configMaps, 'default', 'a'), /the client is closed/)
})

/** A SOCKS 5 proxy that wants `user` with the password `secret`, and tells where it was asked to connect to. */
async function socksProxy(t: Lifetime): Promise<{ readonly port: number; readonly asked: string[] }> {
  const asked: string[] = []
  const server = createTcpServer((socket) => {
    const steps = [
      () => socket.write(Buffer.from([5, 2])),
      (said: Buffer) => socket.write(Buffer.from([1, said.includes('user') && said.includes('secret') ? 0 : 1])),
      (said: Buffer) => {
        const host = said.subarray(5, 5 + said[4]!).toString()
        const port = said.readUInt16BE(5 + said[4]!)
        asked.push(`${host}:${port}`)
        const to = connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
          socket.pipe(to).pipe(socket)
        })
        to.on('error', () => socket.destroy())
        socket.on('close', () => to.destroy())
      },
    ]
    socket.on('error', () => {})
    const step = (said: Buffer): void => {
      steps.shift()?.(said)
      if (steps.length > 0) socket.once('data', step)
      else socket.pause()
    }
    socket.once('data', step)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, asked }
}

test('a server behind a SOCKS 5 proxy is reached with the name and the password of its URL', async (t) => {
  const { client: access } = await testCluster(t, bareServer)
  const { port, asked } = await socksProxy(t)
  const url = access.url.replace('127.0.0.1', 'localhost')
  const client = clientOf(t, { ...access, url, proxyUrl: `socks5://user:secret@127.0.0.1:${port}` })
  assert.equal((await client.get(namespaces, '', 'default')).metadata.name, 'default')
  assert.deepEqual(asked, [new URL(url).host])
  const stranger = clientOf(t, { ...access, proxyUrl: `socks5://user:wrong@127.0.0.1:${port}` })
  await assert.rejects(
    stranger.get(namespaces, '', 'default'),
    /gives no way to .*: it does not take the name and the password/,
  )
})
