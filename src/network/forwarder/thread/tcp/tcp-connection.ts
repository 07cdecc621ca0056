/** A TCP connection of a client, and the one to its target. */
import type { Target } from '../../listener.ts'
import { type EventHandler, type EventLoop, ready } from '../event-loop.ts'
import { encodeAddress } from '../socket-address.ts'
import { EINPROGRESS, linux, type SocketCalls } from '../socket-calls.ts'
import { ByteFlow, type StreamSocket } from './byte-flow.ts'
import type { Pipes } from './pipes.ts'

export interface ConnectionRoom {
  readonly calls: SocketCalls
  readonly loop: EventLoop
  readonly pipes: Pipes
  /** Those that are open. */
  readonly connections: Set<TcpConnection>
  /** Those of the last second. */
  fresh: TcpConnection[]
}

/** Without an answer to the first packet and one more, after 3 s, the next target is tried. */
const synCount = Buffer.from([1, 0, 0, 0])
/** Seconds without a byte after which the kernel asks whether a peer is alive. */
export const keepIdle = Buffer.from([60, 0, 0, 0])
/** SO_LINGER with a time of 0: closing resets the connection. */
const reset = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])
const events = ready.in | ready.out | ready.peerClosed | ready.edge

/** Encoded addresses of targets, which many connections share. */
const addresses = new WeakMap<Target, Buffer>()

function addressOf(target: Target): Buffer {
  let address = addresses.get(target)
  if (!address) addresses.set(target, (address = encodeAddress(target)))
  return address
}

export class TcpConnection implements EventHandler {
  readonly #room: ConnectionRoom
  readonly #client: StreamSocket
  readonly #nextTarget: (tried: readonly Target[]) => Target | undefined
  readonly #tried: Target[] = []
  #server: StreamSocket | undefined
  #tokens: number[] = []
  #flows: readonly ByteFlow[] = []
  #isDeferred = false
  #isClosed = false

  /** @param nextTarget chooses a target that is none of `tried` */
  constructor(room: ConnectionRoom, client: number, nextTarget: (tried: readonly Target[]) => Target | undefined) {
    this.#room = room
    this.#client = { fd: client, isReadable: true, isWritable: true }
    this.#nextTarget = nextTarget
    room.connections.add(this)
    room.fresh.push(this)
  }

  /** Lets the kernel ask whether the target is alive. Most connections end earlier, so it is not done at the start. */
  keepAlive(): void {
    const { calls } = this.#room
    if (this.#isClosed || !this.#server) return
    calls.setOption(this.#server.fd, linux.socketLevel, linux.keepAlive)
    calls.setOption(this.#server.fd, linux.tcpLevel, linux.keepIdle, keepIdle)
  }

  /** Connects to the first target, or closes the connection. */
  start(): void {
    try {
      this.#connect()
    } catch {
      this.abort()
    }
  }

  onEvents(bits: number): void {
    const server = this.#server
    if (!server || this.#isClosed) return
    if (this.#flows.length > 0) this.#advance()
    else if ((bits & (ready.error | ready.hangUp)) !== 0 && this.#hasFailed(server.fd)) this.#retry()
    else if ((bits & ready.out) !== 0) this.#connected(server)
  }

  onError(): void {
    this.abort()
  }

  resume(): void {
    this.#isDeferred = false
    if (!this.#isClosed) this.#advance()
  }

  #connect(): void {
    const { calls, loop } = this.#room
    for (;;) {
      const target = this.#nextTarget(this.#tried)
      if (!target) break
      this.#tried.push(target)
      const address = addressOf(target)
      const type = linux.stream | linux.nonBlocking | linux.closeOnExec
      const fd = calls.socket(address.readUInt16LE(0), type, 0)
      if (fd < 0) break
      calls.setOption(fd, linux.tcpLevel, linux.noDelay)
      calls.setOption(fd, linux.tcpLevel, linux.synCount, synCount)
      const isConnected = calls.connect(fd, address, address.length) === 0
      if (!isConnected && calls.errno() !== EINPROGRESS) {
        calls.close(fd)
        continue
      }
      this.#server = { fd, isReadable: false, isWritable: true }
      this.#tokens.push(loop.add(fd, events, this.#watcher(this.#server)))
      if (isConnected) this.#connected(this.#server)
      return
    }
    this.abort()
  }

  #connected(server: StreamSocket): void {
    const { calls, pipes, loop } = this.#room
    const client = this.#client
    this.#flows = [new ByteFlow(calls, pipes, client, server), new ByteFlow(calls, pipes, server, client)]
    this.#tokens.push(loop.add(client.fd, events, this.#watcher(client)))
    this.#advance()
  }

  /** Notes the state of a socket before the connection handles its events. */
  #watcher(socket: StreamSocket): EventHandler {
    return {
      onEvents: (bits) => {
        if ((bits & ~ready.out) !== 0) socket.isReadable = true
        if ((bits & ~(ready.in | ready.peerClosed)) !== 0) socket.isWritable = true
        this.onEvents(bits)
      },
      onError: () => this.abort(),
    }
  }

  #hasFailed(fd: number): boolean {
    const error = new Int32Array(1)
    this.#room.calls.getOption(fd, linux.socketLevel, linux.error, error, Int32Array.of(4))
    return error[0] !== 0
  }

  #retry(): void {
    this.#forget()
    if (this.#server) this.#room.calls.close(this.#server.fd)
    this.#server = undefined
    this.#connect()
  }

  #advance(): void {
    const states = this.#flows.map((flow) => flow.advance())
    if (states.includes('failed')) this.abort()
    else if (states.every((state) => state === 'ended')) this.#close()
    else {
      for (const flow of this.#flows) flow.endOther()
      if (!states.includes('more') || this.#isDeferred) return
      this.#isDeferred = true
      this.#room.loop.defer(this)
    }
  }

  /** Both peers get a reset, as if they had been connected directly. */
  abort(): void {
    if (this.#isClosed) return
    const { calls } = this.#room
    for (const socket of [this.#client, this.#server])
      if (socket) calls.setOption(socket.fd, linux.socketLevel, linux.linger, reset)
    this.#close()
  }

  #close(): void {
    this.#isClosed = true
    this.#room.connections.delete(this)
    this.#forget()
    for (const flow of this.#flows) flow.close()
    this.#room.calls.close(this.#client.fd)
    if (this.#server) this.#room.calls.close(this.#server.fd)
  }

  #forget(): void {
    for (const token of this.#tokens) this.#room.loop.remove(token)
    this.#tokens = []
  }
}
