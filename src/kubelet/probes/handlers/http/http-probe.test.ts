import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Container } from '../../../pod-types.ts'
import type { ProbeOutcome } from '../outcome.ts'
import { untrustedCertificate } from './certificate.fixture.ts'
import { probeHttp } from './http-probe.ts'
import { type HttpGet, httpGetRequest } from './http-request.ts'

async function portOf(t: TestContext, server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

const probe = (port: number, action: Partial<HttpGet> = {}, timeoutMs = 5_000): Promise<ProbeOutcome> =>
  probeHttp(
    httpGetRequest({ port, ...action } as HttpGet, { name: 'web' } as Container, '127.0.0.1', 'probe'),
    timeoutMs,
  )

const serve = (t: TestContext, listener: RequestListener): Promise<number> => portOf(t, createServer(listener))

for (const [status, expected] of [
  [200, { result: 'success', output: 'the body' }],
  [299, { result: 'success', output: 'the body' }],
  [304, { result: 'warning', output: 'Probe terminated redirects, Response body: ' }],
  [400, { result: 'failure', output: 'HTTP probe failed with statuscode: 400' }],
  [503, { result: 'failure', output: 'HTTP probe failed with statuscode: 503' }],
] as const)
  test(`an answer with status ${status} is a ${expected.result}`, async (t) => {
    const port = await serve(t, (_, response) => response.writeHead(status).end('the body'))
    assert.deepEqual(await probe(port), expected)
  })

test('the first 10 KB of a body are read', async (t) => {
  const port = await serve(t, (_, response) => response.end('x'.repeat(1 << 20)))
  assert.equal((await probe(port)).output.length, 10 * 1024)
})

test('a request has the Host and headers of the probe, and closes its connection', async (t) => {
  let seen: readonly string[] = []
  const port = await serve(t, (request, response) => {
    seen = request.rawHeaders
    response.end()
  })
  await probe(port, { httpHeaders: [{ name: 'Host', value: 'muffins.org' }] })
  assert.deepEqual(seen, [
    ...['Host', 'muffins.org', 'User-Agent', 'kube-probe/1.36', 'Accept', '*/*', 'Connection', 'close'],
  ])
})

test('a redirect to the same host is followed; to another host it ends the probe with a warning', async (t) => {
  const seen: string[] = []
  const port = await serve(t, (request, response) => {
    seen.push(`${request.headers.host} ${request.url}`)
    if (request.url === '/a') response.writeHead(302, { location: '/b' }).end()
    else if (request.url === '/b') response.writeHead(301, { location: 'http://other.test/c' }).end('see there')
    else response.end()
  })
  assert.deepEqual(await probe(port, { path: '/a', httpHeaders: [{ name: 'Host', value: 'muffins.org' }] }), {
    result: 'warning',
    output: 'Probe terminated redirects, Response body: see there',
  })
  assert.deepEqual(seen, ['muffins.org /a', 'muffins.org /b'])
})

test('a loop of redirects is a failure', async (t) => {
  const port = await serve(t, (_, response) => response.writeHead(302, { location: '/again' }).end())
  assert.deepEqual(await probe(port), { result: 'failure', output: 'Get "/again": stopped after 10 redirects' })
})

test('certificates are not verified', async (t) => {
  const port = await portOf(
    t,
    createTlsServer(untrustedCertificate(), (_, response) => response.end('hello')),
  )
  assert.deepEqual(await probe(port, { scheme: 'HTTPS' }), { result: 'success', output: 'hello' })
})

test('HTTPS to a server that speaks HTTP is a failure', async (t) => {
  const port = await serve(t, (_, response) => response.end())
  const output = `Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`
  assert.deepEqual(await probe(port, { scheme: 'HTTPS' }), { result: 'failure', output })
})

test('a server that does not answer in time is a failure, and its connection is reset', async (t) => {
  const closed = Promise.withResolvers<void>()
  const server = createServer(() => {})
  server.on('connection', (socket) => socket.on('close', () => closed.resolve()).on('error', () => {}))
  const port = await portOf(t, server)
  assert.deepEqual(await probe(port, {}, 100), {
    result: 'failure',
    output: `Get "http://127.0.0.1:${port}/": ${headersLimit}`,
  })
  await closed.promise
})

const headersLimit = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'

test('a body that does not end in time cannot be probed', async (t) => {
  const port = await serve(t, (_, response) => response.write('begin'))
  await assert.rejects(probe(port, {}, 100), {
    message: 'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    result: 'failure',
  })
})

test('a closed port and a closed connection are failures', async (t) => {
  const server = createTcpServer((socket) => socket.destroy())
  const port = await portOf(t, server)
  assert.deepEqual(await probe(port), { result: 'failure', output: `Get "http://127.0.0.1:${port}/": EOF` })
  server.close()
  assert.deepEqual(await probe(port), {
    result: 'failure',
    output: `Get "http://127.0.0.1:${port}/": dial tcp 127.0.0.1:${port}: connect: connection refused`,
  })
})

test('a connection that the server does not close is gone after a second', async (t) => {
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    t.after(() => socket.destroy())
    socket.on('error', () => {}).resume()
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  })
  const port = await portOf(t, server)
  assert.deepEqual(await probe(port), { result: 'success', output: 'ok' })
  // The kernel alone would hold it for a minute.
  const deadline = Date.now() + 20_000
  while (connectionsTo(port) > 0 && Date.now() < deadline) await delay(50)
  assert.equal(connectionsTo(port), 0)
})

/** The connections to a port that the kernel knows, also those that no process has any more. */
const connectionsTo = (port: number): number => {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  return lines.filter((line) => line.trim().split(/\s+/)[2] === address).length
}
