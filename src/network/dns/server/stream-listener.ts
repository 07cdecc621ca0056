/** DNS by TCP, on one address: messages with their length before them, several at a time (RFC 7766). */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { streamLimit } from '../wire/response.ts'
import type { Exchange, ListenerOptions } from './exchange.ts'

const idleTimeoutMs = 10_000
const maxConnections = 1000
/** Queries of one connection that wait at the same time; further ones are read later. */
const maxPipelined = 100

export class StreamListener {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, exchange: Exchange, serves: ListenerOptions['serves']) {
    this.#server = server
    server.maxConnections = maxConnections
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      if (serves(socket.remoteAddress ?? '')) serve(socket, exchange)
      else socket.destroy()
    })
  }

  /** Rejects if the address or port is not available. */
  static async listen({ address, port, serves }: ListenerOptions, exchange: Exchange): Promise<StreamListener> {
    const server = createServer()
    const listener = new StreamListener(server, exchange, serves)
    server.listen({ host: address, port })
    await once(server, 'listening')
    return listener
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}

function serve(socket: Socket, exchange: Exchange): void {
  let received: Buffer = Buffer.alloc(0)
  let waiting = 0
  const send = (response: Buffer): void => {
    if (socket.destroyed) return
    const length = Buffer.alloc(2)
    length.writeUInt16BE(response.length)
    socket.write(Buffer.concat([length, response]))
  }
  const read = (): void => {
    while (waiting < maxPipelined && received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0)
      const response = exchange.respond(received.subarray(2, end), 'tcp', () => streamLimit)
      received = received.subarray(end)
      if (response === undefined) socket.destroy()
      else if (Buffer.isBuffer(response)) send(response)
      else {
        waiting++
        void response.then((late) => {
          waiting--
          send(late)
          read()
        })
      }
    }
    if (waiting >= maxPipelined || socket.writableNeedDrain) socket.pause()
    else socket.resume()
  }
  socket.setTimeout(idleTimeoutMs, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.on('drain', read)
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    read()
  })
}
