/** Packets of one client to one target, and the answers. */
import type { Target } from '../../listener.ts'
import { type EventHandler, type EventLoop, ready } from '../event-loop.ts'
import { EAGAIN, EINTR, type SocketCalls } from '../socket-calls.ts'

export interface UdpFlowOptions {
  readonly calls: SocketCalls
  readonly loop: EventLoop
  /** A socket that is connected to the target. */
  readonly fd: number
  /** The socket that the client knows. */
  readonly listener: number
  /** The bytes of its address and port. */
  readonly client: Buffer
  readonly target: Target
  /** The target refuses packets. */
  readonly onFailure: () => void
}

const answersPerTurn = 64
const datagram = Buffer.alloc(65_536)
/** Of the kernel's conntrack: after a question, and after several. */
const idleMs = { question: 30_000, stream: 120_000 } as const

export class UdpFlow implements EventHandler {
  readonly #options: UdpFlowOptions
  readonly #token: number
  #sent = 0
  #usedAt = 0

  constructor(options: UdpFlowOptions) {
    this.#options = options
    this.#token = options.loop.add(options.fd, ready.in, this)
  }

  get client(): Buffer {
    return this.#options.client
  }

  get target(): Target {
    return this.#options.target
  }

  isIdle(now: number): boolean {
    return now - this.#usedAt > (this.#sent > 1 ? idleMs.stream : idleMs.question)
  }

  /** Sends the first `size` bytes to the target. A full buffer of the kernel drops them, as a network does. */
  send(bytes: Buffer, size: number, now: number): void {
    const { calls, fd, onFailure } = this.#options
    this.#sent++
    this.#usedAt = now
    if (calls.sendTo(fd, bytes, size, 0, null, 0) < 0 && !this.#mustWait()) onFailure()
  }

  onEvents(): void {
    const { calls, fd, listener, client, onFailure } = this.#options
    this.#usedAt = performance.now()
    for (let i = 0; i < answersPerTurn; i++) {
      const size = calls.receive(fd, datagram, datagram.length, 0)
      if (size < 0) {
        if (!this.#mustWait()) onFailure()
        return
      }
      calls.sendTo(listener, datagram, size, 0, client, client.length)
    }
  }

  close(): void {
    this.#options.loop.remove(this.#token)
    this.#options.calls.close(this.#options.fd)
  }

  #mustWait(): boolean {
    const errno = this.#options.calls.errno()
    return errno === EAGAIN || errno === EINTR
  }
}
