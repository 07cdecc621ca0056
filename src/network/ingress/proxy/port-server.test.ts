import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, type RequestListener, request as sendRequest } from 'node:http'
import { type AddressInfo, connect, createServer as createPlain, type Server, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { Backends } from '../picture/backends.ts'
import { everyPath } from '../picture/paths.ts'
import type { Route, RouteAction } from '../picture/route.ts'
import { RouteTable } from '../picture/route-table.ts'
import { defaultLimits, type ProxyLimits } from './limits.ts'
import { PortServer } from './port-server.ts'
import { ReverseProxy } from './reverse-proxy.ts'

const address = '127.0.0.1'

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, address)
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

const listenHttp = (t: TestContext, listener: RequestListener): Promise<number> => listen(t, createServer(listener))

interface Proxy {
  readonly port: number
  readonly server: PortServer
  /** Replaces the endpoints of the backend. */
  setEndpoints(ports: readonly number[]): void
}

/** Starts a proxy with one backend that gets all requests. */
async function proxyFor(
  t: TestContext,
  ports: readonly number[],
  limits: Partial<ProxyLimits> = {},
  action: Partial<RouteAction> = {},
): Promise<Proxy> {
  let endpoints = ports
  const backends: Backends = new Backends(
    {
      service: () => ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'default', name: 'web' },
        spec: { ports: endpoints.map((port) => ({ name: String(port), port })) },
      }),
      slices: () => [
        {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: { namespace: 'default', name: 'web' },
          addressType: 'IPv4',
          ports: endpoints.map((port) => ({ name: String(port), port, protocol: 'TCP' })),
          endpoints: [{ addresses: [address] }],
        },
      ],
    },
    (endpoint) => proxy.retire(endpoint),
  )
  const all = { ...defaultLimits, ...limits }
  const proxy: ReverseProxy = new ReverseProxy({ backends, limits: all, random: () => 0 })
  const backend = { namespace: 'default', name: 'web', port: String(ports[0]) }
  const route: Route = {
    host: '',
    match: { path: everyPath },
    action: { name: 'test', backends: [{ weight: 1, backend }], ...action },
    origin: { createdAt: '', key: '' },
  }
  const table = new RouteTable([route], undefined)
  const server = new PortServer({ proxy, limits: all, table: () => table })
  const port = await server.listen(address, 0)
  t.after(async () => {
    await server.close(0)
    proxy.close()
  })
  const setEndpoints = (changed: readonly number[]): void => {
    endpoints = changed
    backends.refresh('default', 'web')
  }
  return { port, server, setEndpoints }
}

interface Answer {
  readonly status: number
  readonly body: string
}

async function get(
  port: number,
  path = '/',
  options: { method?: string; body?: string; agent?: Agent } = {},
): Promise<Answer> {
  const { body, ...rest } = options
  const sent = sendRequest({ host: address, port, path, ...rest })
  sent.end(body)
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, body: (await response.setEncoding('utf8').toArray()).join('') }
}

async function received(socket: Socket): Promise<string> {
  return (await socket.setEncoding('utf8').toArray()).join('')
}

describe('limits of time', () => {
  test('a head that does not end is answered with 408', async (t) => {
    const { port } = await proxyFor(t, [1], { headMs: 100 })
    const socket = connect(port, address)
    socket.write('GET / HTTP/1.1\r\nHost: a')
    assert.match(await received(socket), /^HTTP\/1.1 408 Request Timeout/)
  })

  test('a client that sends nothing is disconnected', async (t) => {
    const { port } = await proxyFor(t, [1], { headMs: 100 })
    assert.equal(await received(connect(port, address)), '')
  })

  test('a backend that does not respond gives 504, and the backend notices', async (t) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const backend = await listenHttp(t, (request) => void request.once('close', resolve))
    const { port } = await proxyFor(t, [backend], { responseMs: 100 })
    const { status, body } = await get(port)
    assert.equal(status, 504)
    assert.match(
      body,
      /^Service default\/web:\d+ did not respond within 0\.1 s: check its pods, or the timeouts of test/,
    )
    await closed
  })

  test('a body that stops within a response closes the connection of the client', async (t) => {
    const backend = await listenHttp(t, (_, response) => void response.write('begin'))
    const { port } = await proxyFor(t, [backend], {}, { timeouts: { requestMs: 200 } })
    await assert.rejects(get(port), /aborted/)
  })
})

describe('connections to endpoints', () => {
  test('are used again, and a request is repeated if the endpoint has just closed one', async (t) => {
    const sockets = new Set<Socket>()
    const backend = await listenHttp(t, ({ socket }, response) => {
      sockets.add(socket)
      response.end()
    })
    const { port } = await proxyFor(t, [backend])
    await get(port)
    await get(port)
    assert.equal(sockets.size, 1)
    // The proxy has not seen the end of the connection when it sends the next request.
    const [first] = sockets
    first!.resetAndDestroy()
    assert.equal((await get(port)).status, 200)
    assert.equal(sockets.size, 2)
  })

  test('are closed when their endpoint is removed, after the request in progress', async (t) => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const { promise: gate, resolve: finish } = Promise.withResolvers<void>()
    const server = createServer((_, response) => {
      arrive()
      void gate.then(() => response.end('old'))
    })
    server.on('connection', (socket) => socket.once('close', close))
    const old = await listen(t, server)
    const { port, setEndpoints } = await proxyFor(t, [old])
    const pending = get(port)
    await arrived
    setEndpoints([])
    finish()
    assert.equal((await pending).body, 'old')
    assert.equal((await get(port)).status, 503)
    await closed
  })

  test('that fail within a request are not repeated, as it may have had an effect', async (t) => {
    let requests = 0
    const backend = await listen(
      t,
      createPlain((socket) => {
        requests++
        socket.once('data', () => socket.destroy())
      }),
    )
    const { port } = await proxyFor(t, [backend])
    const { status, body } = await get(port, '/', { method: 'POST', body: 'x' })
    assert.equal(status, 502)
    assert.match(body, /^Service default\/web:\d+ did not complete the response: socket hang up/)
    assert.equal(requests, 1)
  })
})

test('a body without a length has chunks for the backend, whatever the method', async (t) => {
  const heads: string[] = []
  const backend = await listenHttp(t, (request, response) => {
    heads.push(`${request.method} ${request.headers['transfer-encoding']} ${request.headers['content-length']}`)
    request.pipe(response)
  })
  const { port } = await proxyFor(t, [backend])
  const socket = connect(port, address)
  socket.write('DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n')
  socket.write('d\r\nGET /x HTTP/1\r\n0\r\n\r\n')
  assert.match(await received(socket), /GET \/x HTTP\/1/)
  assert.deepEqual(heads, ['DELETE chunked undefined'])
  assert.equal((await get(port, '/', { method: 'PUT', body: 'abc' })).body, 'abc')
  assert.equal(heads[1], 'PUT undefined 3')
})

test('a closed port lets requests finish, and ends idle connections', async (t) => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const { promise: gate, resolve: finish } = Promise.withResolvers<void>()
  const backend = await listenHttp(t, (request, response) => {
    if (request.url === '/idle') return void response.end()
    arrive()
    void gate.then(() => response.end('done'))
  })
  const { port, server } = await proxyFor(t, [backend])
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  await get(port, '/idle', { agent })
  const pending = get(port)
  await arrived
  const closed = server.close(60_000)
  finish()
  assert.equal((await pending).body, 'done')
  await closed
})
