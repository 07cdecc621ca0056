/** Upgraded connections of a backend in a cancel storm: they echo the data, or end in some way. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Random } from '../../fuzz/random.ts'
import { type Behaviour, reset } from './behaviours.ts'

const webSocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const longestPauseMs = 500

export function answerUpgrade(request: IncomingMessage, socket: Duplex, manner: Behaviour, random: Random): void {
  socket.on('error', () => {})
  switch (manner) {
    case 'hang':
      return
    case 'reset':
      return void reset(socket)
    case 'cut':
      socket.write('HTTP/1.1 101 Switch')
      return void socket.destroy()
    case 'fail':
    case 'early':
      return void socket.end('HTTP/1.1 500 Internal Server Error\r\nContent-Length: 12\r\n\r\nout of order')
    case 'lie':
      return void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    case 'garbage':
      return void socket.end('HTTP/9.9 pardon?\r\n\r\n')
    case 'huge':
      socket.write(switching(request))
      socket.write(Buffer.alloc(1024 * 1024, 'x'))
      return
    case 'hang after the head':
      return void socket.write(switching(request))
    case 'reset after the head':
      socket.write(switching(request))
      return void (random.chance(0.5) ? reset(socket) : setImmediate(() => reset(socket)))
    case 'slow':
      setTimeout(() => echo(request, socket), random.below(longestPauseMs))
      return
    default:
      return void echo(request, socket)
  }
}

function echo(request: IncomingMessage, socket: Duplex): void {
  if (socket.destroyed) return
  socket.write(switching(request))
  socket.pipe(socket)
}

function switching({ headers }: IncomingMessage): string {
  const key = headers['sec-websocket-key']
  const accept =
    key &&
    createHash('sha1')
      .update(key + webSocketGuid)
      .digest('base64')
  return [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    `Upgrade: ${headers.upgrade}`,
    ...(accept
      ? [`Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${headers['sec-websocket-protocol'] ?? ''}`]
      : []),
    ...(headers['x-stream-protocol-version']
      ? [`X-Stream-Protocol-Version: ${headers['x-stream-protocol-version']}`]
      : []),
    '\r\n',
  ].join('\r\n')
}
