/**
 * Passes a request on to a backend and its answer back, both as they come: a side that reads slowly holds the other up,
 * nothing is gathered, and when one of them goes, the other is told.
 */
import {
  type Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import type { Request, Response, Sink } from '../../http/exchange.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import { connectionError } from '../connection-error.ts'
import { answerHeaders } from './headers.ts'
import { takeOver } from './take-over.ts'

/** Where a request goes. */
export interface Backend {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
  /** What the backend is checked against, and shown. */
  readonly tls?: ConnectionOptions
  /** Keeps connections for requests to come. */
  readonly agent?: Agent
}

export interface Forwarding {
  readonly request: Request
  readonly backend: Backend
  /** Path and query as the backend sees them. */
  readonly target: string
  readonly headers: OutgoingHttpHeaders
  /** Whether the server's end ends it, as it does watches. */
  readonly longRunning: boolean
  readonly waitGroup: WaitGroup
  /** For a client that speaks another protocol than the backend; the client has to ask for an upgrade. */
  readonly translation?: Translation
  /** The backend gets a plain request even if the client asked for an upgrade. */
  readonly plain?: boolean
}

/** What the backend is asked to speak, and who carries that to the client. */
export interface Translation {
  readonly method: string
  /** As in `Upgrade`. */
  readonly protocol: string
  /** When the backend has agreed. Gives what takes the client's connection over. */
  readonly takeOver: (
    incoming: IncomingMessage,
    backend: Duplex,
    backendHead: Buffer,
  ) => NonNullable<Response['takeOver']>
}

/** The backend could not be reached, or is not what it should be. The message is Go's. */
export class BackendError extends Error {
  /** Whether the backend was asked to speak another protocol. */
  readonly upgrading: boolean

  constructor(message: string, upgrading = false) {
    super(message)
    this.name = 'BackendError'
    this.upgrading = upgrading
  }
}

/** In the form of Node's own errors, which have codes. */
class DialTimeout extends Error {
  readonly code = 'ETIMEDOUT'
}

/** As upstream's dialler. */
const dialTimeoutMs = 30_000

/** Lower ones are interim answers, or none at all. */
const leastStatus = 200
/** Node's HTTP/2 server writes no higher ones. */
const mostStatus = 599

const canPassOn = (status: number, { protocol }: Request): boolean =>
  status >= leastStatus && (status <= mostStatus || protocol.startsWith('HTTP/1'))

/** Bytes that wait for a slow client before the backend has to. */
const mostWaiting = 256 * 1024

export const addressOf = ({ host, port }: Pick<Backend, 'host' | 'port'>): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`

/** True if the client asks to speak another protocol over this connection. A request with a body cannot. */
export const isUpgrade = (request: Request): boolean =>
  request.protocol === 'HTTP/1.1' &&
  request.header('upgrade') !== undefined &&
  !request.header('transfer-encoding') &&
  !Number(request.header('content-length')) &&
  (request.header('connection') ?? '').split(',').some((option) => option.trim().toLowerCase() === 'upgrade')

/** The backend's answer, of which the head has come. Rejects with a BackendError. */
export function forward(forwarding: Forwarding): Promise<Response> {
  const { request, backend, headers, translation, waitGroup, plain = false } = forwarding
  const upgrading = !plain && isUpgrade(request)
  const sent = upgrading
    ? { ...headers, connection: 'Upgrade', upgrade: translation?.protocol ?? request.header('upgrade') }
    : headers
  return new Promise((resolve, reject) => {
    const outgoing = dial(forwarding, sent, upgrading)
    limitDialling(outgoing)
    outgoing.on('error', (error) => reject(new BackendError(connectionError(error, addressOf(backend)), upgrading)))
    const refuse = (why: string): void => {
      reject(new BackendError(why, upgrading))
      outgoing.destroy()
    }
    outgoing.on('response', (incoming) => {
      const { statusCode = 0 } = incoming
      if (upgrading && statusCode < 400) refuse(`invalid upgrade response: status code ${statusCode}`)
      else if (!canPassOn(statusCode, request)) refuse(`malformed HTTP status code ${JSON.stringify(`${statusCode}`)}`)
      else resolve(answer(incoming, forwarding))
    })
    outgoing.on('upgrade', (incoming, socket, head) => {
      const take = heldFor(request, socket)
      if (!upgrading) {
        socket.destroy()
        refuse(
          `backend tried to switch protocol ${JSON.stringify(incoming.headers.upgrade ?? '')} when "" was requested`,
        )
        return
      }
      const takenOver = translation
        ? translation.takeOver(incoming, socket, head)
        : takeOver(incoming, socket, head, waitGroup)
      resolve({
        status: 101,
        headers: {},
        takeOver: (client, clientHead) => take(client) && takenOver(client, clientHead),
      })
    })
    if (request.signal.aborted) outgoing.destroy()
    else request.signal.addEventListener('abort', () => outgoing.destroy(), { once: true })
    send(request, outgoing)
  })
}

/**
 * Keeps a backend's connection until the client's is tied to it: it may fail in between, and the client may leave. The
 * returned function says whether there is still something to tie; the client's connection ends where there is not.
 */
function heldFor({ signal }: Request, backend: Duplex): (client: Duplex) => boolean {
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
  alone: boolean,
): ClientRequest {
  const { scheme, host, port, tls, agent } = backend
  const method = translation?.method ?? request.method
  const options = {
    method,
    host,
    port,
    path: target,
    headers: { host: addressOf(backend), ...headers },
    agent: alone ? false : agent,
  } as const
  return scheme === 'https' ? httpsRequest({ ...options, ...tls }) : httpRequest(options)
}

/** A connection that does not come about ends the request; one that is silent does not. */
function limitDialling(outgoing: ClientRequest): void {
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return
    const deadline = setTimeout(() => outgoing.destroy(new DialTimeout()), dialTimeoutMs)
    deadline.unref()
    const done = (): void => clearTimeout(deadline)
    socket.once('connect', done)
    socket.once('close', done)
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
  // A backend that answers before it has read everything does not read the rest: it is dropped.
  outgoing.on('close', () => {
    body.unpipe(outgoing)
    body.resume()
  })
  body.pipe(outgoing)
}

function answer(incoming: IncomingMessage, { request, longRunning, waitGroup }: Forwarding): Response {
  const body = (sink: Sink): void => {
    const end = (): void => {
      sink.end()
      incoming.destroy()
    }
    const forget = longRunning ? waitGroup.onStop(end) : undefined
    sink.onClose(() => incoming.destroy())
    incoming.on('data', (chunk: Buffer) => {
      if (request.method !== 'HEAD') sink.write(chunk)
      if (sink.backlog < mostWaiting) return
      incoming.pause()
      void sink.ready().then(() => incoming.resume())
    })
    incoming.on('end', () => sink.end())
    incoming.on('error', () => sink.destroy())
    incoming.on('close', () => {
      forget?.()
      if (!incoming.complete && !(longRunning && waitGroup.stopping)) sink.destroy()
    })
  }
  return { status: incoming.statusCode ?? 502, headers: answerHeaders(incoming), body }
}
