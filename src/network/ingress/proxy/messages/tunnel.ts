/** Upgraded connections, such as WebSockets: both sides are joined after the backend has accepted the new protocol. */
import { type ClientRequest, type IncomingMessage, STATUS_CODES, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { EndpointAddress } from '../../picture/backends.ts'
import { NotConnected } from '../connections/backend-response.ts'
import { whenConnected } from '../connections/http1-connections.ts'
import type { ProxyLimits } from '../limits.ts'
import { changeHeaders, responseHeaders } from './headers.ts'
import type { RoutedExchange } from './routed-request.ts'

export interface TunnelOptions {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** Bytes that followed the head of the request. */
  readonly head: Buffer
  readonly routed: RoutedExchange
  readonly limits: ProxyLimits
  /** Called for each endpoint without a connection. */
  readonly failed: () => void
}

/** The response of a backend to the upgrade. */
interface Answer {
  readonly message: IncomingMessage
  /** Undefined if the backend did not accept. */
  readonly joined?: { readonly socket: Socket; readonly head: Buffer }
}

/** Answers a request for an upgrade with a sentence, and closes the connection. */
export function refuseTunnel(socket: Duplex, status: number, sentence: string): void {
  socket.on('error', () => {})
  const body = `${sentence}\n`
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** Resolves at the end of the tunnel with the status of the response. Never rejects. */
export async function openTunnel(options: TunnelOptions): Promise<number> {
  const { socket, routed } = options
  socket.on('error', () => socket.destroy())
  if (routed.target.protocol === 'h2c') {
    const name = `Service ${routed.target.name}`
    refuseTunnel(socket, 502, `${name} speaks HTTP/2 (appProtocol), which has no upgrades: use another port`)
    return 502
  }
  try {
    const answer = await firstAnswer(options)
    if (answer.joined) await joinSockets(options, answer.message, answer.joined)
    else await passResponse(options, answer.message)
    return answer.message.statusCode ?? 0
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (!socket.destroyed) refuseTunnel(socket, 502, `no upgrade by Service ${routed.target.name}: ${message}`)
    return 502
  }
}

async function firstAnswer(options: TunnelOptions): Promise<Answer> {
  let last: unknown
  for (const endpoint of options.routed.endpoints) {
    try {
      return await ask(endpoint, options)
    } catch (error) {
      last = error
      if (!(error instanceof NotConnected) || options.socket.destroyed) throw error
      options.failed()
    }
  }
  throw last
}

async function ask(endpoint: EndpointAddress, { request, socket, routed, limits }: TunnelOptions): Promise<Answer> {
  const sent = sendRequest({
    host: endpoint.address,
    port: endpoint.port,
    method: routed.head.method,
    path: routed.path,
    agent: false,
    setHost: false,
    headers: {
      host: routed.authority,
      ...routed.headers,
      connection: 'Upgrade',
      upgrade: request.headers.upgrade ?? '',
    },
  })
  const cancel = (): void => void sent.destroy()
  socket.once('close', cancel)
  const answered = answerOf(sent, limits.responseMs)
  try {
    await whenConnected(sent, limits.connectMs).catch((error: unknown) => {
      throw new NotConnected(error)
    })
    sent.end()
    return await answered
  } finally {
    socket.removeListener('close', cancel)
  }
}

function answerOf(sent: ClientRequest, responseMs: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const timer = setTimeout(() => sent.destroy(new Error(`no response within ${responseMs / 1000} s`)), responseMs)
  sent.on('error', reject)
  sent.once('upgrade', (message, socket, head) => resolve({ message, joined: { socket, head } }))
  sent.once('response', (message) => resolve({ message }))
  sent.once('close', () => reject(new Error('the backend has closed the connection')))
  const done = promise.finally(() => clearTimeout(timer))
  // Without a connection nobody waits for the answer.
  done.catch(() => {})
  return done
}

async function joinSockets(
  { socket, head, routed, limits }: TunnelOptions,
  message: IncomingMessage,
  backend: { readonly socket: Socket; readonly head: Buffer },
): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const close = (): void => {
    socket.destroy()
    backend.socket.destroy()
    resolve()
  }
  socket.once('close', close)
  for (const one of [socket, backend.socket]) {
    one.on('error', close)
    one.once('close', close)
    if ('setTimeout' in one) (one as Socket).setTimeout(limits.tunnelIdleMs, close)
  }
  socket.write(headText(message, { routed, upgrade: message.headers.upgrade }))
  if (backend.head.length > 0) socket.write(backend.head)
  if (head.length > 0) backend.socket.write(head)
  socket.pipe(backend.socket)
  backend.socket.pipe(socket)
  await ended
}

/** The backend did not accept: its response ends the connection. */
async function passResponse({ socket, routed }: TunnelOptions, message: IncomingMessage): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  socket.once('close', resolve)
  message.on('error', () => socket.destroy())
  socket.write(headText(message, { routed }))
  message.pipe(socket)
  await ended
}

function headText(
  message: IncomingMessage,
  { routed, upgrade }: { readonly routed: RoutedExchange; readonly upgrade?: string },
): string {
  const headers = responseHeaders(message.headers)
  changeHeaders(headers, routed.route.action.responseHeaders)
  changeHeaders(headers, routed.chosen.responseHeaders)
  const lines = [`HTTP/1.1 ${message.statusCode} ${message.statusMessage || STATUS_CODES[message.statusCode ?? 0]}`]
  for (const [name, value] of Object.entries(headers))
    for (const one of Array.isArray(value) ? value : [value]) lines.push(`${name}: ${one}`)
  lines.push(...(upgrade ? ['connection: Upgrade', `upgrade: ${upgrade}`] : ['connection: close']))
  return `${lines.join('\r\n')}\r\n\r\n`
}
