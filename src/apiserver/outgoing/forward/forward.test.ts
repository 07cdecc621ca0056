import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { Request, Response } from '../../http/exchange.ts'
import { WaitGroup } from '../../http/wait-group.ts'
import { BackendError, forward } from './forward.ts'

const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: Upgrade\r\n\r\n'

interface ForwardedRequest {
  readonly answer: Promise<Response>
  /** The backend's end of the connection, once it has received a request. */
  readonly backend: Promise<Socket>
  /** Aborts the request as its client. */
  leave(): void
}

/** Forwards one request to a backend that answers with these bytes. */
async function ask(
  t: TestContext,
  head: string,
  headers: Readonly<Record<string, string>> = {},
  protocol: Request['protocol'] = 'HTTP/1.1',
): Promise<ForwardedRequest> {
  const { promise: backend, resolve } = Promise.withResolvers<Socket>()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(head, 'latin1', () => resolve(socket)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  t.after(async () => void (await backend).destroy())
  const client = new AbortController()
  const request = {
    method: 'GET',
    protocol,
    signal: client.signal,
    header: (name: string) => headers[name],
    bodyStream: () => undefined,
  } as Partial<Request> as Request
  const { port } = server.address() as AddressInfo
  const place = { scheme: 'http', host: '127.0.0.1', port } as const
  const answer = forward({
    request,
    backend: place,
    target: '/',
    headers: {},
    longRunning: true,
    waitGroup: new WaitGroup(),
  })
  return { answer, backend, leave: () => client.abort() }
}

const chat = { upgrade: 'chat', connection: 'Upgrade' }

test("a client that disconnects before it is joined to a backend's connection ends that", async (t) => {
  const { answer, backend, leave } = await ask(t, switching, chat)
  await answer
  leave()
  await once((await backend).resume(), 'close')
})

test('a backend that resets its connection before it is joined to the client’s ends the client’s', async (t) => {
  const { answer, backend } = await ask(t, switching, chat)
  const { takeOver } = await answer
  const socket = await backend
  socket.resetAndDestroy()
  await once(socket, 'close')
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  const client = new PassThrough()
  takeOver?.(client, Buffer.alloc(0))
  await once(client.resume(), 'close')
})

test('a client that has disconnected before the backend is dialled gets no response', async (t) => {
  const aborted = AbortSignal.abort()
  const request = {
    method: 'GET',
    protocol: 'HTTP/1.1',
    signal: aborted,
    header: () => undefined,
    bodyStream: () => undefined,
  }
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const { port } = server.address() as AddressInfo
  const answer = forward({
    request: request as Partial<Request> as Request,
    backend: { scheme: 'http', host: '127.0.0.1', port },
    target: '/',
    headers: {},
    longRunning: false,
    waitGroup: new WaitGroup(),
  })
  await assert.rejects(answer, BackendError)
})

test('a backend with an unrequested protocol switch or an invalid status is rejected', async (t) => {
  const unasked = await ask(t, switching)
  await assert.rejects(unasked.answer, { message: 'backend tried to switch protocol "chat" when "" was requested' })
  const odd = await ask(t, 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n')
  await assert.rejects(odd.answer, { message: 'malformed HTTP status code "99"' })
})

test('a status above 599 is forwarded over HTTP/1.1 only, as HTTP/2 does not support it', async (t) => {
  const head = 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'
  assert.equal((await (await ask(t, head)).answer).status, 999)
  await assert.rejects((await ask(t, head, {}, 'HTTP/2')).answer, { message: 'malformed HTTP status code "999"' })
})

test('duplicates of singular headers and connection headers are not forwarded', async (t) => {
  const lines = [
    'Content-Type: a/b',
    'Content-Type: c/d',
    'HTTP2-Settings: x',
    'X-Two: 1',
    'X-Two: 2',
    'Content-Length: 0',
  ]
  const { answer } = await ask(t, `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`)
  const { headers } = await answer
  assert.deepEqual({ ...headers }, { 'content-type': 'a/b', 'x-two': ['1', '2'], 'content-length': '0' })
})

test('a request with a body is not upgraded', async (t) => {
  const { answer } = await ask(t, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', { ...chat, 'content-length': '5' })
  assert.equal((await answer).status, 200)
})

test('redirects of an upgrade within the backend are followed; others are errors', async (t) => {
  const paths: string[] = []
  const server = createServer((socket) => {
    socket.once('data', (request) => {
      const path = /^\S+ (\S+)/.exec(String(request))?.[1] ?? ''
      paths.push(path)
      const location = { '/first': '/second', '/elsewhere': 'http://127.0.0.1:1/' }[path]
      socket.end(location ? `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n` : switching)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const request = {
    method: 'GET',
    protocol: 'HTTP/1.1',
    signal: new AbortController().signal,
    header: (name: string) => new Map(Object.entries(chat)).get(name),
    bodyStream: () => undefined,
  } as Partial<Request> as Request
  const { port } = server.address() as AddressInfo
  const backend = { scheme: 'http', host: '127.0.0.1', port } as const
  const send = (target: string, followsRedirects: boolean): Promise<Response> => {
    const waitGroup = new WaitGroup()
    return forward({ request, backend, target, headers: {}, longRunning: true, waitGroup, followsRedirects })
  }
  const { status, takeOver } = await send('/first', true)
  assert.equal(status, 101)
  takeOver?.(new PassThrough(), Buffer.alloc(0))
  assert.deepEqual(paths, ['/first', '/second'])
  const invalid = /invalid upgrade response: status code 302/
  await assert.rejects(send('/first', false), invalid)
  await assert.rejects(send('/elsewhere', true), invalid)
})
