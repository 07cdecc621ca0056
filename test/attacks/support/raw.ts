/** Connections on which an attack sends arbitrary bytes. */
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type AttackedServer, token } from './attacked-server.ts'

export interface Raw {
  readonly socket: Socket
  /** The bytes received, as latin1; at least the first 100,000. */
  received(): string
  /** Resolves with the age of the connection in ms when it closes. */
  readonly closed: Promise<number>
}

function raw(socket: Socket): Raw {
  const since = performance.now()
  let received = ''
  // Bounded, as some answers are large.
  socket.on('data', (chunk: Buffer) => {
    if (received.length < 100_000) received += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  return {
    socket,
    received: () => received,
    closed: new Promise((resolve) => socket.on('close', () => resolve(performance.now() - since))),
  }
}

/** A TCP connection without TLS. */
export async function rawTcp({ port }: AttackedServer): Promise<Raw> {
  const socket = connectTcp({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  return raw(socket)
}

/** A TLS connection for HTTP/1.1 or HTTP/2. The caller writes the bytes or frames. */
export async function rawTls({ port, ca }: AttackedServer, protocol: 'http/1.1' | 'h2' = 'http/1.1'): Promise<Raw> {
  const socket = connectTls({ port, host: '127.0.0.1', ca, ALPNProtocols: [protocol] })
  await once(socket, 'secureConnect')
  return raw(socket)
}

/** The head of an HTTP/1.1 request of the administrator. `lines` are additional headers. */
export const head = (method: string, path: string, ...lines: readonly string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...lines, '', ''].join('\r\n')
