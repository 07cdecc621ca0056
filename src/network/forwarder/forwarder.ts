/**
 * Forwards TCP connections and UDP packets in user space, on a thread of its own. It needs Linux and the package koffi,
 * and no privileges.
 */
import { Worker } from 'node:worker_threads'
import { cLibrary } from '../../lib/linux/c-library.ts'
import type { ForwarderCommand, ForwarderReport, ForwarderStart, Listener, ListenerFailure } from './listener.ts'

const file = new URL(
  import.meta.url.endsWith('.ts') ? './thread/forwarding-worker.ts' : './forwarding-worker.js',
  import.meta.url,
)
/** EFD_CLOEXEC and EFD_NONBLOCK. */
const eventFlags = 0o2004000
const one = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])

export class Forwarder {
  readonly #worker: Worker
  readonly #wake: () => void
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly ListenerFailure[]>>()
  readonly #exited: Promise<void>
  readonly #stopAtExit = (): void => this.#post({ stop: true })
  #failure: Error | undefined
  #id = 0

  /**
   * Starts the thread.
   * @throws if koffi is not installed, or the system is not Linux.
   * @example const forwarder = new Forwarder(); await forwarder.set(listeners, [])
   */
  constructor() {
    if (process.platform !== 'linux') throw new Error('forwarding of ports needs Linux')
    const { declare, check } = cLibrary()
    const write = declare<[number, Uint8Array, number]>('intptr_t write(int fd, const uint8_t *bytes, size_t size)')
    const close = declare<[number]>('int close(int fd)')
    const eventfd = declare<[number, number]>('int eventfd(unsigned int value, int flags)')
    const wake = check('eventfd', eventfd(0, eventFlags))
    this.#wake = () => void write(wake, one, one.length)
    const start: ForwarderStart = { wake }
    this.#worker = new Worker(file, { name: 'forwarder', workerData: start, trackUnmanagedFds: false })
    this.#worker.on('message', ({ id, failures }: ForwarderReport) => {
      this.#waiting.get(id)?.resolve(failures)
      this.#waiting.delete(id)
    })
    this.#worker.on('error', (error: Error) => this.#fail(error))
    this.#exited = new Promise((resolve) =>
      this.#worker.once('exit', () => {
        process.off('exit', this.#stopAtExit)
        close(wake)
        this.#fail(new Error('the thread of the forwarder has ended'))
        resolve()
      }),
    )
    this.#worker.unref()
    // The process would wait for the thread, which waits for the kernel.
    process.once('exit', this.#stopAtExit)
  }

  /**
   * Removes listeners by their keys, and sets others: new ones, or those of which all but the address has changed.
   * Resolves with those that could not be opened, which are then absent. Rejects if the thread has ended.
   */
  async set(listeners: readonly Listener[], removed: readonly string[]): Promise<readonly ListenerFailure[]> {
    if (this.#failure) throw this.#failure
    const id = ++this.#id
    const waiting = Promise.withResolvers<readonly ListenerFailure[]>()
    this.#waiting.set(id, waiting)
    this.#worker.ref()
    try {
      this.#post({ id, set: listeners, removed })
      return await waiting.promise
    } finally {
      if (this.#waiting.size === 0) this.#worker.unref()
    }
  }

  /** Ends the thread with all connections. */
  async stop(): Promise<void> {
    if (!this.#failure) this.#post({ stop: true })
    this.#worker.ref()
    await this.#exited
  }

  #post(command: ForwarderCommand): void {
    this.#worker.postMessage(command)
    this.#wake()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const { reject } of this.#waiting.values()) reject(this.#failure)
    this.#waiting.clear()
  }
}
