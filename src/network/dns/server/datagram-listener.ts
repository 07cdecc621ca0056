/** DNS by UDP, on one address. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import type { Query } from '../wire/query.ts'
import { datagramLimit } from '../wire/response.ts'
import type { Exchange, ListenerOptions } from './exchange.ts'

/** Bytes of queries that wait in the kernel. */
const receiveBufferBytes = 4 << 20

export class DatagramListener {
  readonly #socket: Socket
  readonly #exchange: Exchange

  private constructor(socket: Socket, exchange: Exchange, serves: ListenerOptions['serves']) {
    this.#socket = socket
    this.#exchange = exchange
    socket.on('message', (message, client) => {
      if (serves(client.address)) this.#answer(message, client)
    })
  }

  /** Rejects if the address or port is not available. */
  static async listen({ address, port, serves }: ListenerOptions, exchange: Exchange): Promise<DatagramListener> {
    const socket = createSocket({ type: isIP(address) === 6 ? 'udp6' : 'udp4', recvBufferSize: receiveBufferBytes })
    socket.bind(port, address)
    await once(socket, 'listening')
    // An answer to a client that is gone.
    socket.on('error', () => {})
    return new DatagramListener(socket, exchange, serves)
  }

  get port(): number {
    return this.#socket.address().port
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }

  #answer(message: Buffer, client: RemoteInfo): void {
    const response = this.#exchange.respond(message, 'udp', limitOf)
    if (response === undefined) return
    if (Buffer.isBuffer(response)) this.#send(response, client)
    else void response.then((late) => this.#send(late, client))
  }

  #send(response: Buffer, { address, port }: RemoteInfo): void {
    try {
      this.#socket.send(response, port, address)
    } catch {
      // The listener was closed while the answer was on its way.
    }
  }
}

const limitOf = (query: Query): number => datagramLimit(query)
