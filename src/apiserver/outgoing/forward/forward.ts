/**
 * Forwards a request to a backend and its response back, both as streams: a slow reader slows down the other side,
 * nothing is buffered, and when one side disconnects, the other connection is closed too.
 */
import {
  type Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import type { Request, Response, Sink } from '../../http/exchange.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import { connectionError } from '../connection-error.ts'
import { answerHeaders } from './headers.ts'
import { takeOver } from './take-over.ts'

/** The destination of a request. */
export interface Backend {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
  /** TLS options: the CA for the backend's certificate, and the client certificate. */
  readonly tls?: ConnectionOptions
  /** Reuses connections for later requests. */
  readonly agent?: Agent
}

export interface Forwarding {
  readonly request: Request
  readonly backend: Backend
  /** Path and query as the backend gets them. */
  readonly target: string
  readonly headers: OutgoingHttpHeaders
  /** True if the shutdown of the server ends it, as it does watches. */
  readonly longRunning: boolean
  readonly waitGroup: WaitGroup
  /** For a client that speaks another protocol than the backend; the client must request an upgrade. */
  readonly translation?: Translation
  /** Redirects of an upgrade to another path of the backend are followed; the client sees none of them. */
  readonly followsRedirects?: boolean
  /** The backend gets a plain request even if the client has requested an upgrade. */
  readonly plain?: boolean
}

/** The protocol of the backend, and its translation for the client. */
export interface Translation {
  readonly method: string
  /** The value of `Upgrade`. */
  readonly protocol: string
  /** Called when the backend has agreed. Returns the function that takes over the client's connection. */
  readonly takeOver: (
    incoming: IncomingMessage,
    backend: Duplex,
    backendHead: Buffer,
  ) => NonNullable<Response['takeOver']>
}

/** The backend could not be reached, or its response is invalid. The message is Go's. */
export class BackendError extends Error {
  /** True if the request to the backend was an upgrade. */
  readonly upgrading: boolean

  constructor(message: string, upgrading = false) {
    super(message)
    this.name = 'BackendError'
    this.upgrading = upgrading
  }
}

/** Has a code, as Node's own errors. */
class DialTimeout extends Error {
  readonly code = 'ETIMEDOUT'
}

/** As upstream's dialler. */
const dialTimeoutMs = 30_000

/** Lower status codes are interim responses, or invalid. */
const minStatus = 200
/** Node's HTTP/2 server supports no higher status codes. */
const maxStatus = 599

const isForwardable = (status: number, { protocol }: Request): boolean =>
  status >= minStatus && (status <= maxStatus || protocol.startsWith('HTTP/1'))

/** The backlog in bytes of a slow client at which reading from the backend pauses. */
const maxBacklog = 256 * 1024

export const addressOf = ({ host, port }: Pick<Backend, 'host' | 'port'>): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`

/** True if the client requests an upgrade of this connection. A request with a body cannot be one. */
export const isUpgrade = (request: Request): boolean =>
  request.protocol === 'HTTP/1.1' &&
  request.header('upgrade') !== undefined &&
  !request.header('transfer-encoding') &&
  !Number(request.header('content-length')) &&
  (request.header('connection') ?? '').split(',').some((option) => option.trim().toLowerCase() === 'upgrade')

/** As Go's HTTP client. */
const maxRedirects = 10

/** The backend's response, once its head has been received. Rejects with a BackendError. */
export async function forward(forwarding: Forwarding): Promise<Response> {
  let { target } = forwarding
  for (let redirects = 0; ; redirects++) {
    const result = await attempt({ ...forwarding, target })
    if (!('redirect' in result)) return result
    if (redirects === maxRedirects) throw new BackendError(`stopped after ${maxRedirects} redirects`, true)
    target = result.redirect
  }
}

/** The path and query of a redirect that is followed; undefined if it leads to another server. */
function redirectOf({ statusCode, headers }: IncomingMessage, { backend, followsRedirects }: Forwarding) {
  if (!followsRedirects || statusCode !== 302 || headers.location === undefined) return undefined
  const base = `${backend.scheme}://${addressOf(backend)}`
  const url = URL.canParse(headers.location, base) ? new URL(headers.location, base) : undefined
  return url?.origin === new URL(base).origin ? `${url.pathname}${url.search}` : undefined
}

/** Sends the request once. */
function attempt(forwarding: Forwarding): Promise<Response | { readonly redirect: string }> {
  const { request, backend, headers, translation, waitGroup, plain = false } = forwarding
  const upgrading = !plain && isUpgrade(request)
  const sentHeaders = upgrading
    ? { ...headers, connection: 'Upgrade', upgrade: translation?.protocol ?? request.header('upgrade') }
    : headers
  return new Promise((resolve, reject) => {
    const outgoing = dial(forwarding, sentHeaders, upgrading)
    limitDialling(outgoing)
    outgoing.on('error', (error) => reject(new BackendError(connectionError(error, addressOf(backend)), upgrading)))
    const fail = (why: string): void => {
      reject(new BackendError(why, upgrading))
      outgoing.destroy()
    }
    outgoing.on('response', (incoming) => {
      const { statusCode = 0 } = incoming
      const redirect = upgrading ? redirectOf(incoming, forwarding) : undefined
      if (redirect !== undefined) {
        incoming.resume()
        resolve({ redirect })
      } else if (upgrading && statusCode < 400) fail(`invalid upgrade response: status code ${statusCode}`)
      else if (!isForwardable(statusCode, request))
        fail(`malformed HTTP status code ${JSON.stringify(`${statusCode}`)}`)
      else resolve(responseOf(incoming, forwarding))
    })
    outgoing.on('upgrade', (incoming, socket, head) => {
      const joinClient = holdConnection(request, socket)
      if (!upgrading) {
        socket.destroy()
        fail(`backend tried to switch protocol ${JSON.stringify(incoming.headers.upgrade ?? '')} when "" was requested`)
        return
      }
      const takenOver = translation
        ? translation.takeOver(incoming, socket, head)
        : takeOver(incoming, socket, head, waitGroup)
      resolve({
        status: 101,
        headers: {},
        takeOver: (client, clientHead) => joinClient(client) && takenOver(client, clientHead),
      })
    })
    if (request.signal.aborted) outgoing.destroy()
    else request.signal.addEventListener('abort', () => outgoing.destroy(), { once: true })
    send(request, outgoing)
  })
}

/**
 * Holds a backend's connection until it is joined to the client's: it may fail in between, and the client may
 * disconnect. The returned function returns true if the connection is still open; otherwise it ends the client's.
 */
function holdConnection({ signal }: Request, backend: Duplex): (client: Duplex) => boolean {
  const end = (): void => void backend.destroy()
  backend.on('error', end)
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  return (client) => {
    signal.removeEventListener('abort', end)
    if (backend.destroyed) client.destroy()
    return !backend.destroyed
  }
}

function dial(
  { request, backend, target, translation }: Forwarding,
  headers: OutgoingHttpHeaders,
  needsOwnConnection: boolean,
): ClientRequest {
  const { scheme, host, port, tls, agent } = backend
  const method = translation?.method ?? request.method
  const options = {
    method,
    host,
    port,
    path: target,
    headers: { host: addressOf(backend), ...headers },
    agent: needsOwnConnection ? false : agent,
  } as const
  // Not the requested host, which Node would take from the headers.
  const servername = isIP(host) ? '' : host
  return scheme === 'https' ? httpsRequest({ ...options, servername, ...tls }) : httpRequest(options)
}

/**
 * Ends a request whose connection cannot be established in time. An established but silent connection is not limited.
 */
function limitDialling(outgoing: ClientRequest): void {
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return
    const deadline = setTimeout(() => outgoing.destroy(new DialTimeout()), dialTimeoutMs)
    deadline.unref()
    const clear = (): void => clearTimeout(deadline)
    socket.once('connect', clear)
    socket.once('close', clear)
  })
}

function send(request: Request, outgoing: ClientRequest): void {
  const body = request.bodyStream()
  if (!body) {
    outgoing.end()
    return
  }
  body.on('error', () => outgoing.destroy())
  body.on('aborted', () => outgoing.destroy())
  // A backend that responds early does not read the rest of the body: drop it.
  outgoing.on('close', () => {
    body.unpipe(outgoing)
    body.resume()
  })
  body.pipe(outgoing)
}

function responseOf(incoming: IncomingMessage, { request, longRunning, waitGroup }: Forwarding): Response {
  const body = (sink: Sink): void => {
    const end = (): void => {
      sink.end()
      incoming.destroy()
    }
    const unsubscribe = longRunning ? waitGroup.onStop(end) : undefined
    sink.onClose(() => incoming.destroy())
    incoming.on('data', (chunk: Buffer) => {
      if (request.method !== 'HEAD') sink.write(chunk)
      if (sink.backlog < maxBacklog) return
      incoming.pause()
      void sink.ready().then(() => incoming.resume())
    })
    incoming.on('end', () => sink.end())
    incoming.on('error', () => sink.destroy())
    incoming.on('close', () => {
      unsubscribe?.()
      if (!incoming.complete && !(longRunning && waitGroup.stopping)) sink.destroy()
    })
  }
  return { status: incoming.statusCode ?? 502, headers: answerHeaders(incoming), body }
}
