/** The loop of the forwarder's thread: it waits for sockets by epoll(7), and notifies their handlers. */
import { SystemCallError } from '../../../lib/linux/c-library.ts'
import { linux, type SocketCalls } from './socket-calls.ts'

export interface EventHandler {
  /** Handles the bits of `ready`. */
  onEvents(events: number): void
  /** Continues work that it has deferred, so that others had their turn. */
  resume?(): void
  /** Ends what cannot go on after an error, for example because the process has too many open files. */
  onError?(): void
}

/** Bits of events. EDGE: only changes are reported. */
export const ready = { in: 0x1, out: 0x4, error: 0x8, hangUp: 0x10, peerClosed: 0x2000, edge: 0x80000000 } as const

const operations = { add: 1, remove: 2 } as const
/** `struct epoll_event` is packed on x64 only. */
const [eventSize, dataAt] = process.arch === 'x64' ? [12, 4] : [16, 8]
const mostEvents = 512
/** Process exit waits for the loop for at most this time, if nothing wakes it. */
const longestWaitMs = 250
const tickMs = 1000

export class EventLoop {
  readonly #calls: SocketCalls
  readonly #epoll: number
  readonly #handlers = new Map<number, EventHandler>()
  readonly #deferred: EventHandler[] = []
  readonly #tickers = new Set<(now: number) => void>()
  /** The argument of epoll_ctl, which the kernel copies. */
  readonly #event = Buffer.alloc(eventSize)
  #token = 0
  #isStopped = false

  constructor(calls: SocketCalls) {
    this.#calls = calls
    this.#epoll = calls.check('epoll_create1', calls.epollCreate(linux.closeOnExec))
  }

  /** Returns a token for `remove`. Events of a closed socket, whose number another one has, do not reach it. */
  add(fd: number, events: number, handler: EventHandler): number {
    do this.#token = (this.#token + 1) >>> 0
    while (this.#handlers.has(this.#token))
    this.#event.writeUInt32LE(events >>> 0, 0)
    this.#event.writeUInt32LE(this.#token, dataAt)
    this.#calls.check('epoll_ctl', this.#calls.epollControl(this.#epoll, operations.add, fd, this.#event))
    this.#handlers.set(this.#token, handler)
    return this.#token
  }

  /** Forgets the handler; closing the socket ends its events. */
  remove(token: number): void {
    this.#handlers.delete(token)
  }

  /** Ends the events of a socket that remains open, and forgets its handler. */
  pause(fd: number, token: number): void {
    this.#handlers.delete(token)
    this.#calls.epollControl(this.#epoll, operations.remove, fd, this.#event)
  }

  /** Calls `handler.resume` after the handlers of all events that wait. */
  defer(handler: EventHandler): void {
    this.#deferred.push(handler)
  }

  /** Calls a function each second with the time in ms; returns a function that ends it. */
  eachSecond(run: (now: number) => void): () => void {
    this.#tickers.add(run)
    return () => this.#tickers.delete(run)
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Runs until `stop`. */
  run(): void {
    const events = Buffer.alloc(mostEvents * eventSize)
    const { epollWait, close } = this.#calls
    let nextTick = performance.now() + tickMs
    while (!this.#isStopped) {
      const count = epollWait(this.#epoll, events, mostEvents, this.#deferred.length > 0 ? 0 : longestWaitMs)
      for (let i = 0; i < count; i++)
        this.#notify(events.readUInt32LE(i * eventSize + dataAt), events.readUInt32LE(i * eventSize))
      for (const handler of this.#deferred.splice(0)) this.#resume(handler)
      const now = performance.now()
      if (now < nextTick) continue
      nextTick = now + tickMs
      for (const run of this.#tickers) run(now)
    }
    close(this.#epoll)
  }

  #notify(token: number, events: number): void {
    const handler = this.#handlers.get(token)
    try {
      handler?.onEvents(events)
    } catch (error) {
      this.#fail(handler, error)
    }
  }

  #resume(handler: EventHandler): void {
    try {
      handler.resume?.()
    } catch (error) {
      this.#fail(handler, error)
    }
  }

  /** A failed system call ends only one connection. */
  #fail(handler: EventHandler | undefined, error: unknown): void {
    if (!(error instanceof SystemCallError) || !handler?.onError) throw error
    handler.onError()
  }
}
