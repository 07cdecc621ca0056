/** Ingresses by the proxy of a cluster, with curl, ws and gRPC as clients. Needs root for an address of backends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { credentials, Client as GrpcClient, status } from '@grpc/grpc-js'
import WebSocket, { WebSocketServer } from 'ws'
import { events, type Ingress, ingressClasses, ingresses, secrets } from '../../../src/client/index.ts'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { bytes, grpcEcho } from './grpc-echo.ts'
import { backendAddress, IngressLab } from './ingress-lab.ts'

type Spec = NonNullable<Ingress['spec']>

const backendOf = (name: string) => ({ service: { name, port: { name: 'http' } } })
const ruleFor = (host: string, name: string, path = '/'): NonNullable<Spec['rules']>[number] => ({
  host,
  http: { paths: [{ path, pathType: 'Prefix', backend: backendOf(name) }] },
})

await inNamespaces(import.meta.filename, () =>
  test('ingress', async (t) => {
    const lab = await IngressLab.start(t)
    await t.test('an Ingress is served, and has class, addresses and events', (t) => firstIngress(t, lab))
    await t.test('backends get the headers of the client, and none of its connection', (t) => headers(t, lab))
    await t.test('bodies stream both ways, and a slow reader slows down the writer', (t) => streaming(t, lab))
    await t.test('certificates are chosen by name and reloaded', (t) => certificates(t, lab))
    await t.test('WebSockets pass in both directions', (t) => webSockets(t, lab))
    await t.test('gRPC passes with trailers, streams and cancellations', (t) => grpc(t, lab))
    await t.test('endpoints without a connection are skipped, and removed ones are drained', (t) => endpoints(t, lab))
    await t.test('requests that are not unambiguous are rejected', (t) => smuggling(t, lab))
    await t.test('requests are counted and logged', (t) => metrics(t, lab))
  }),
)

async function createIngress(lab: IngressLab, name: string, spec: Spec): Promise<Ingress> {
  return lab.client.create(ingresses, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { namespace: 'default', name },
    spec,
  })
}

async function serve(lab: IngressLab, name: string, listener: RequestListener): Promise<number> {
  const port = await lab.listen(createServer(listener))
  await lab.service(name, [port])
  return port
}

async function firstIngress(_t: TestContext, lab: IngressLab): Promise<void> {
  const found = await lab.client.get(ingressClasses, '', 't8s')
  assert.equal(found.metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'], 'true')
  await serve(lab, 'first', (request, response) => response.end(`first ${request.url}`))
  assert.equal((await lab.curl('http://first.example.com/')).status, 404)
  const resource = { resource: { kind: 'Bucket', name: 'static' } }
  const created = await createIngress(lab, 'first', {
    rules: [
      {
        host: 'first.example.com',
        http: {
          paths: [
            { path: '/app', pathType: 'Prefix', backend: backendOf('first') },
            { path: '/bucket', pathType: 'Exact', backend: resource },
          ],
        },
      },
    ],
  })
  assert.equal(created.spec?.ingressClassName, 't8s', 'the class of the proxy is the default one')
  const { body } = await lab.eventually(200, 'http://first.example.com/app/x?y=1')
  assert.equal(body, 'first /app/x?y=1')
  assert.match((await lab.curl('http://first.example.com/app', '--http2')).body, /^first \/app$/, 'h2c by upgrade')
  assert.match((await lab.curl('http://first.example.com/app', '--http2-prior-knowledge')).text, /^HTTP\/2 200/)
  assert.match((await lab.curl('https://first.example.com/app', '--http2')).text, /^HTTP\/2 200/)
  assert.match((await lab.curl('https://first.example.com/app', '--http1.1')).text, /^HTTP\/1.1 200/)
  for (const url of [
    'http://first.example.com/apple',
    'http://other.example.com/app',
    'http://first.example.com/bucket',
  ])
    assert.equal((await lab.curl(url)).status, 404, url)
  const served = await waitFor('the status', async () => {
    const ingress = await lab.client.get(ingresses, 'default', 'first')
    return ingress.status?.loadBalancer?.ingress && ingress
  })
  assert.deepEqual(served.status?.loadBalancer?.ingress, [{ ip: '127.0.0.1' }])
  await waitFor('the event', async () => {
    const { items } = await lab.client.list(events, { namespace: 'default' })
    return items?.some(
      ({ message }) => message === 'the backend of /bucket is not a Service and is ignored: use a Service',
    )
  })
  await lab.service('empty', [])
  await createIngress(lab, 'empty', { rules: [ruleFor('empty.example.com', 'empty')] })
  const { body: sentence } = await lab.eventually(503, 'http://empty.example.com/')
  assert.match(sentence, /^Service default\/empty has no ready endpoints: see kubectl/)
}

async function headers(_t: TestContext, lab: IngressLab): Promise<void> {
  let received: IncomingMessage | undefined
  await serve(lab, 'headers', (request, response) => {
    received = request
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.setHeader('connection', 'x-internal')
    response.setHeader('x-internal', '1')
    response.end()
  })
  await createIngress(lab, 'headers', { rules: [ruleFor('headers.example.com', 'headers')] })
  const sent = ['X-Forwarded-For: 6.6.6.6', 'Connection: x-hop, close', 'X-Hop: 1', 'TE: gzip', 'X-Own: 1']
  const url = 'http://headers.example.com:8123/a/../b%2fc?q=%20'
  const { text } = await lab.eventually(200, url, '--path-as-is', ...sent.flatMap((header) => ['-H', header]))
  assert.equal(received?.url, '/b%2fc?q=%20')
  const { host, te, 'x-hop': hop, 'x-own': own, ...others } = received.headers
  assert.deepEqual([host, te, hop, own], ['headers.example.com:8123', undefined, undefined, '1'])
  assert.deepEqual(Object.fromEntries(Object.entries(others).filter(([name]) => /^x-(f|r)/.test(name))), {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'headers.example.com:8123',
    'x-forwarded-port': '8123',
    'x-forwarded-proto': 'http',
    'x-real-ip': '127.0.0.1',
  })
  assert.match(text, /set-cookie: a=1\r\nset-cookie: b=2/)
  assert.doesNotMatch(text, /x-internal/)
}

async function streaming(_t: TestContext, lab: IngressLab): Promise<void> {
  let written = 0
  await serve(lab, 'stream', (request, response) => {
    if (request.url === '/echo') return void request.pipe(response)
    const chunk = Buffer.alloc(64 * 1024)
    const write = (): void => {
      while (!response.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) return void response.once('drain', write)
      }
    }
    write()
  })
  await createIngress(lab, 'stream', { rules: [ruleFor('stream.example.com', 'stream')] })
  await lab.eventually(200, 'http://stream.example.com/echo', '-d', 'x')
  // The first part of the response comes before the request ends.
  const socket = connect(lab.http, '127.0.0.1')
  socket.write('POST /echo HTTP/1.1\r\nHost: stream.example.com\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nping\r\n')
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => (received += text))
  await waitFor('the echo', () => received.includes('ping'))
  socket.write('4\r\npong\r\n0\r\n\r\n')
  await waitFor('the end', () => received.includes('pong') && received.endsWith('0\r\n\r\n'))
  socket.destroy()
  // Nobody reads this response: the backend has to stop writing.
  const slow = connect(lab.http, '127.0.0.1')
  slow.pause()
  slow.write('GET /endless HTTP/1.1\r\nHost: stream.example.com\r\n\r\n')
  await waitFor('the first bytes', () => written > 0)
  let before = -1
  await waitFor('the writer to wait', () => before === (before = written), { everyMs: 300 })
  assert(written < 64 * 1024 * 1024, `${written} bytes`)
  slow.destroy()
}

async function certificates(_t: TestContext, lab: IngressLab): Promise<void> {
  const authority = await makeAuthority('test', new Date())
  const pairFor = async (host: string, commonName: string) => {
    const pair = await issueCertificate(authority, { commonName, usage: 'server', hosts: [host] }, new Date())
    return { 'tls.crt': btoa(pair.cert), 'tls.key': btoa(pair.key) }
  }
  const nameFor = async (servername: string): Promise<string> => {
    const socket = connectTls({ host: '127.0.0.1', port: lab.https, servername, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { subject } = socket.getPeerCertificate()
    socket.destroy()
    return String(subject.CN)
  }
  assert.equal(await nameFor('tls.example.com'), 't8s ingress default')
  await createIngress(lab, 'tls', {
    rules: [ruleFor('tls.example.com', 'first')],
    tls: [
      { hosts: ['tls.example.com'], secretName: 'one' },
      { hosts: ['*.wild.example.com'], secretName: 'two' },
    ],
  })
  await waitFor('the event', async () => {
    const { items } = await lab.client.list(events, { namespace: 'default' })
    return items?.some(({ message }) => message === 'Secret default/one does not exist: create it')
  })
  const secret = (name: string, data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { namespace: 'default', name },
    data,
  })
  await lab.client.create(secrets, secret('one', await pairFor('tls.example.com', 'first')))
  await lab.client.create(secrets, secret('two', await pairFor('*.wild.example.com', 'wild')))
  await waitFor(
    'the certificates',
    async () => (await nameFor('tls.example.com')) === 'first' && (await nameFor('a.wild.example.com')) === 'wild',
  )
  assert.equal(await nameFor('a.b.wild.example.com'), 't8s ingress default')
  const current = await lab.client.get(secrets, 'default', 'one')
  await lab.client.update(secrets, { ...current, data: await pairFor('tls.example.com', 'second') })
  await waitFor('the new certificate', async () => (await nameFor('tls.example.com')) === 'second')
}

async function webSockets(_t: TestContext, lab: IngressLab): Promise<void> {
  const server = createServer((_, response) => response.end('plain'))
  const accepted = new WebSocketServer({
    server,
    verifyClient: ({ req }: { req: IncomingMessage }) => req.url !== '/denied',
  })
  accepted.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  )
  await lab.service('chat', [await lab.listen(server)], 'kubernetes.io/ws')
  await createIngress(lab, 'chat', { rules: [ruleFor('chat.example.com', 'chat')] })
  await lab.eventually(200, 'http://chat.example.com/')
  for (const url of [`ws://127.0.0.1:${lab.http}/x`, `wss://127.0.0.1:${lab.https}/x`]) {
    const socket = new WebSocket(url, { headers: { host: 'chat.example.com' }, rejectUnauthorized: false })
    await once(socket, 'open')
    socket.send('hello')
    assert.equal(String((await once(socket, 'message'))[0]), 'hello')
    const large = Buffer.alloc(3_000_000, 'a')
    socket.send(large)
    assert(large.equals((await once(socket, 'message'))[0] as Buffer))
    socket.close(1000, 'bye')
    assert.equal((await once(socket, 'close'))[0], 1000)
  }
  const denied = new WebSocket(`ws://127.0.0.1:${lab.http}/denied`, { headers: { host: 'chat.example.com' } })
  const [error] = (await once(denied, 'error').catch((reason: unknown) => [reason])) as [Error]
  assert.match(error.message, /401/)
}

async function grpc(_t: TestContext, lab: IngressLab): Promise<void> {
  const server = await grpcEcho(backendAddress)
  await lab.service('echo', [server.port], 'grpc')
  await createIngress(lab, 'echo', { rules: [ruleFor('echo.example.com', 'echo', '/test.Echo')] })
  const client = new GrpcClient(`127.0.0.1:${lab.http}`, credentials.createInsecure(), {
    'grpc.default_authority': 'echo.example.com',
  })
  const unary = (text: string): Promise<string> => {
    const called = Promise.withResolvers<string>()
    client.makeUnaryRequest('/test.Echo/Unary', bytes, bytes, Buffer.from(text), (error, value) =>
      error ? called.reject(error) : called.resolve(String(value)),
    )
    return called.promise
  }
  await waitFor('gRPC', () =>
    unary('hello').then(
      (text) => text === 'hello',
      () => false,
    ),
  )
  await assert.rejects(unary('fail'), /10 ABORTED: no/)
  const stream = client.makeBidiStreamRequest('/test.Echo/Both', bytes, bytes)
  for (const text of ['a', 'b']) {
    stream.write(Buffer.from(text))
    assert.equal(String((await once(stream, 'data'))[0]), text)
  }
  stream.end()
  stream.resume()
  assert.equal(((await once(stream, 'status'))[0] as { code: number }).code, status.OK)
  const left = client.makeBidiStreamRequest('/test.Echo/Both', bytes, bytes)
  left.on('error', () => {})
  left.write(Buffer.from('c'))
  await once(left, 'data')
  left.cancel()
  await waitFor('the cancellation', () => server.canceled > 0)
  client.close()
  server.stop()
}

async function endpoints(_t: TestContext, lab: IngressLab): Promise<void> {
  const names = ['a', 'b']
  const ports = await Promise.all(
    names.map((name) =>
      lab.listen(
        createServer((request, response) => {
          if (request.url === '/slow') setTimeout(() => response.end(name), 300)
          else if (request.url === '/broken') request.socket.destroy()
          else response.end(name)
        }),
      ),
    ),
  )
  // Nothing listens on port 1.
  await lab.service('pair', [...ports, 1])
  await createIngress(lab, 'pair', { rules: [ruleFor('pair.example.com', 'pair')] })
  await lab.eventually(200, 'http://pair.example.com/')
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => lab.curl('http://pair.example.com/', '-d', 'body').then(({ body }) => body)),
  )
  assert.deepEqual([...new Set(answers)].sort(), ['a', 'b'])
  assert.match((await lab.curl('http://pair.example.com/broken')).body, /^Service default\/pair:http did not complete/)
  const slow = Promise.all([1, 2, 3, 4].map(() => lab.curl('http://pair.example.com/slow')))
  await waitFor(
    'requests in progress',
    async () => Number(/active_requests (\d+)/.exec(await metricsOf(lab))?.[1]) >= 4,
  )
  await lab.removeEndpoint('pair', ports[0]!)
  assert.deepEqual(
    (await slow).map((result) => result.status),
    [200, 200, 200, 200],
  )
  await waitFor('the other endpoint alone', async () => {
    const found = await Promise.all([1, 2, 3].map(() => lab.curl('http://pair.example.com/')))
    return found.every(({ body }) => body === 'b')
  })
  await lab.removeEndpoint('pair', ports[1]!)
  const { body } = await lab.eventually(502, 'http://pair.example.com/')
  assert.match(body, /^no endpoint of Service default\/pair:http accepts connections: connect ECONNREFUSED/)
}

/** Sends bytes; resolves with everything until the proxy closes the connection. */
async function raw(lab: IngressLab, text: string): Promise<string> {
  const socket = connect(lab.http, '127.0.0.1')
  socket.write(text)
  return (await socket.setEncoding('utf8').toArray()).join('')
}

async function smuggling(_t: TestContext, lab: IngressLab): Promise<void> {
  const host = 'Host: first.example.com\r\n'
  for (const [what, text] of [
    ['two lengths', `POST /app HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    [
      'length and chunks',
      `POST /app HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['unknown coding', `POST /app HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['two hosts', `GET /app HTTP/1.1\r\n${host}Host: other\r\nConnection: close\r\n\r\n`],
    ['no host', 'GET /app HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['host with a path', 'GET /app HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n'],
    ['space before colon', `GET /app HTTP/1.1\r\n${host}X : y\r\n\r\n`],
    ['folded header', `GET /app HTTP/1.1\r\n${host}X: y\r\n z\r\n\r\n`],
  ] as const)
    assert.match(await raw(lab, text), /^HTTP\/1.1 400 /, what)
  const large = `GET /app HTTP/1.1\r\n${host}X: ${'x'.repeat(70_000)}\r\n\r\n`
  assert.match(await raw(lab, large), /^HTTP\/1.1 431 /)
  const absolute = 'GET http://first.example.com/app HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n'
  assert.match(await raw(lab, absolute), /^HTTP\/1.1 200 /)
}

async function metricsOf(lab: IngressLab): Promise<string> {
  return (await fetch(`http://127.0.0.1:${lab.metrics}/metrics`)).text()
}

async function metrics(_t: TestContext, lab: IngressLab): Promise<void> {
  const text = await metricsOf(lab)
  assert.match(text, /^t8s_ingress_requests_total\{route="Ingress\/default\/first",code="200"\} \d+$/m)
  assert.match(text, /^t8s_ingress_requests_total\{route="",code="404"\} \d+$/m)
  assert.match(text, /^t8s_ingress_endpoint_connect_failures_total\{route="Ingress\/default\/pair"\} \d+$/m)
  const logged = /127\.0\.0\.1 GET first\.example\.com\/app\/x\?y=1 200 [\d.]+ms Ingress\/default\/first$/
  assert(lab.log.some((line) => logged.test(line)))
}
