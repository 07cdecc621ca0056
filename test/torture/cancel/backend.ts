/**
 * The servers behind the API server in a cancel storm, as one HTTPS listener: webhooks of all kinds, an aggregated API,
 * a kubelet and a pod. Each request gets a random behaviour, unless the backend is calm.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import type { Random } from '../../fuzz/random.ts'
import { type Answer, answerTo } from './backend-answers.ts'
import { answerUpgrade } from './backend-upgrades.ts'
import { type Behaviour, behaviours, registerForReset, reset } from './behaviours.ts'

export interface Backend {
  readonly port: number
  /** The authority of its certificate, PEM. */
  readonly ca: string
  /** Number of requests by behaviour. */
  readonly manners: ReadonlyMap<string, number>
  /** Number of open connections. */
  readonly connections: number
  /** From now on responds immediately and correctly; closes open connections. */
  calm(): void
  /** From now on responds with random behaviours. */
  storm(): void
  stop(): void
}

/** Host names in the certificate besides the address. */
export const backendNames = ['localhost', 'apples.storm.svc', 'backend.storm.svc']

const longestPauseMs = 1500
/** Responses that a server must not pass on unchanged. */
const oddHeads = [
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: odd\r\nConnection: Upgrade\r\n\r\nodd',
  'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: c/d\r\nETag: a\r\nETag: b\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nHTTP2-Settings: x\r\nX-Odd: \xff\r\nContent-Length: 2\r\n\r\nok',
]
const hugePiece = Buffer.alloc(256 * 1024, ' ')
const hugePieces = 40

export async function startBackend(random: Random, address: string): Promise<Backend> {
  const now = new Date()
  const authority = await makeAuthority('storm-ca', now)
  const hosts = [...new Set(['127.0.0.1', address]), ...backendNames]
  const serving = await issueCertificate(authority, { commonName: 'backend', usage: 'server', hosts }, now)
  const server = createServer({ ...serving, keepAliveTimeout: 1000 })
  const sockets = new Set<Socket>()
  const counts = new Map<string, number>()
  let isCalm = true
  const manner = (): Behaviour => {
    const chosen = isCalm ? 'well' : random.pick(behaviours)
    counts.set(chosen, (counts.get(chosen) ?? 0) + 1)
    return chosen
  }
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    registerForReset(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('secureConnection', (socket) => socket.on('error', () => {}))
  server.on('request', (request, response) => respond(request, response, manner(), random))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => answerUpgrade(request, socket, manner(), random))
  await once(server.listen(0, '0.0.0.0'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    ca: authority.cert,
    manners: counts,
    get connections() {
      return sockets.size
    },
    calm() {
      isCalm = true
      for (const socket of sockets) socket.destroy()
    },
    storm: () => void (isCalm = false),
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function respond(request: IncomingMessage, response: ServerResponse, manner: Behaviour, random: Random): void {
  request.on('error', () => {})
  response.on('error', () => {})
  if (manner === 'reset') return void reset(request.socket)
  if (manner === 'odd head') return void request.socket.end(random.pick(oddHeads))
  if (manner === 'early') return void response.writeHead(503, { 'retry-after': '0' }).end('too early')
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const answer = answerTo(request.url ?? '/', Buffer.concat(pieces).toString(), manner === 'lie')
    const wait = manner === 'slow' ? random.below(longestPauseMs) : 0
    setTimeout(() => write(response, answer, manner), wait)
  })
}

function write(response: ServerResponse, { status, body, stream }: Answer, manner: Behaviour): void {
  if (response.destroyed || manner === 'hang') return
  const head = { 'content-type': 'application/json' }
  switch (manner) {
    case 'fail':
      return void response.writeHead(500, { 'content-type': 'text/plain' }).end('out of order')
    case 'redirect':
      return void response.writeHead(302, { location: '/elsewhere' }).end()
    case 'garbage':
      return void response.writeHead(200, head).end('{"kind": ')
    case 'huge':
      return void writeHuge(response.writeHead(200, head))
    case 'hang after the head':
      return void response.writeHead(status, head).flushHeaders()
    case 'reset after the head':
      response.writeHead(status, head).flushHeaders()
      return void setImmediate(() => response.socket && reset(response.socket))
    case 'cut':
      response.writeHead(status, { ...head, 'content-length': body.length + 10 }).write(body)
      return void setImmediate(() => response.socket?.destroy())
    default:
      response.writeHead(status, head)
      if (stream) response.write(body)
      else response.end(body)
  }
}

/** Sends spaces, as fast as they are read, at most 10 MB. */
function writeHuge(response: ServerResponse): void {
  let left = hugePieces
  const more = (): void => {
    while (left-- > 0 && !response.destroyed) if (!response.write(hugePiece)) return void response.once('drain', more)
    response.end()
  }
  more()
}
