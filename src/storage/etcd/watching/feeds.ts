/**
 * The feeds of a store. One has no previous values, which saves etcd reading them; the other exists once a watch wants
 * them.
 */
import { CompactedError, type KeyRange, type Observer, type Watch } from '../../store.ts'
import { Feed, type FeedOptions } from './feed.ts'

/** Time in ms that a commit waits for its own change, while the connection of the watch comes back. */
const deliveryMs = 10_000

export class Feeds {
  readonly #options: Omit<FeedOptions, 'wantsPrevious'>
  readonly #plain: Feed
  #withPrevious: Feed | undefined
  #ended: Error | undefined

  constructor(options: Omit<FeedOptions, 'wantsPrevious'>) {
    this.#options = options
    this.#plain = new Feed({ ...options, wantsPrevious: false })
  }

  watch(range: KeyRange, after: number, observer: Observer): Watch {
    if (observer.wantsPrevious === false) return this.#plain.watch(range, after, observer)
    if (!this.#withPrevious) {
      const start = Math.max(after, this.#plain.revision)
      this.#withPrevious = new Feed({ ...this.#options, after: start, wantsPrevious: true })
      if (this.#ended) this.#withPrevious.end(this.#ended)
    }
    return this.#withPrevious.watch(range, after, observer)
  }

  /** Resolves when all watches have received the events up to a revision. */
  reached(revision: number): Promise<void> | undefined {
    const waits = [this.#plain.reached(revision), this.#withPrevious?.reached(revision)].filter((wait) => wait)
    if (waits.length === 0) return undefined
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deliveryMs)
      void Promise.all(waits).then(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** The newest revision that has been delivered. */
  get position(): number {
    return Math.max(this.#plain.revision, this.#withPrevious?.revision ?? 0)
  }

  /** Ends all watches and continues after `current`: etcd was restored from a backup, so it has fewer revisions. */
  restart(current: number): void {
    for (const feed of [this.#plain, this.#withPrevious])
      feed?.restart(current, new CompactedError(feed.revision, current))
  }

  end(error: Error): void {
    this.#ended = error
    this.#plain.end(error)
    this.#withPrevious?.end(error)
  }
}
