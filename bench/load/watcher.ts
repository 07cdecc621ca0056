/** A watch of the load generator, on its own connection: counts created objects and measures their delays. */
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { openSession } from './session.ts'

export interface WatcherOptions {
  readonly url: string
  readonly token: string
  /** With the query. */
  readonly path: string
  /** Number of objects that are created. */
  readonly expected: number
  /** When the create of each object was sent, by its number without the leading 9. */
  readonly sentAt: readonly number[]
}

/** Resolves when the server has responded. */
export async function openWatcher(options: WatcherOptions): Promise<Watcher> {
  const session = openSession(options.url)
  const stream = session.request({
    ':path': options.path,
    authorization: `Bearer ${options.token}`,
    accept: 'application/json',
  })
  await new Promise((resolve, reject) => stream.on('response', resolve).on('error', reject))
  return new Watcher(session, stream, options)
}

export class Watcher {
  /** Time from before the create was sent to the event, in ms. */
  readonly delays: number[] = []
  bytes = 0
  readonly #session: ClientHttp2Session
  readonly #options: WatcherOptions
  readonly #complete = Promise.withResolvers<void>()
  #rest: Buffer | undefined

  constructor(session: ClientHttp2Session, stream: ClientHttp2Stream, options: WatcherOptions) {
    this.#session = session
    this.#options = options
    const { promise, reject } = this.#complete
    // An error is reported by `complete`, perhaps later.
    promise.catch(() => {})
    stream.on('data', (data: Buffer) => this.#read(data))
    stream.on('end', () => reject(new Error(`a watch ended after ${this.delays.length} of ${options.expected} events`)))
    stream.on('error', reject)
  }

  /** Resolves after the event of the last object. */
  get complete(): Promise<void> {
    return this.#complete.promise
  }

  close(): void {
    this.#session.destroy()
  }

  #read(data: Buffer): void {
    this.bytes += data.length
    const now = performance.now()
    let chunk = this.#rest ? Buffer.concat([this.#rest, data]) : data
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
      const at = chunk.indexOf('"name":"o-9')
      if (at >= 0 && at < end && chunk.toString('latin1', 0, 15) === '{"type":"ADDED"') {
        this.delays.push(now - this.#options.sentAt[Number(chunk.toString('latin1', at + 11, at + 16))]!)
        if (this.delays.length === this.#options.expected) this.#complete.resolve()
      }
      chunk = chunk.subarray(end + 1)
    }
    this.#rest = chunk.length > 0 ? chunk : undefined
  }
}
