/** A store in another process, for tests: its answers and changes arrive when the test lets them. */
import type { ChangeEvent, KeyRange, Observer, Store, Watch } from '../store.ts'
import { storeLike } from './store-like.fixture.ts'

export class DistantStore {
  readonly store: Store
  readonly #inner: Store
  #requests: (() => void)[] = []
  readonly #watches = new Set<DistantWatch>()

  constructor(inner: Store) {
    this.#inner = inner
    this.store = storeLike(inner, {
      currentRevision: () => this.#currentRevision(),
      watch: (...parameters) => this.#watch(...parameters),
    })
  }

  /** The number of requests for the current revision that have no answer yet. */
  get requests(): number {
    return this.#requests.length
  }

  /** Answers these requests with the revision of now. */
  answer(): void {
    for (const resolve of this.#requests.splice(0)) resolve()
  }

  /** Delivers all changes up to now to the watches. */
  deliver(): void {
    for (const watch of this.#watches) watch.deliver()
  }

  async #currentRevision(): Promise<number> {
    await new Promise<void>((resolve) => this.#requests.push(resolve))
    return this.#inner.currentRevision()
  }

  #watch(range: KeyRange, after: number, observer: Observer): Watch {
    const watch = new DistantWatch(this.#inner, range, after, observer)
    this.#watches.add(watch)
    return watch
  }
}

class DistantWatch implements Watch {
  readonly #inner: Watch
  readonly #observer: Observer
  #events: ChangeEvent[] = []
  position: number

  constructor(store: Store, range: KeyRange, after: number, observer: Observer) {
    this.position = after
    this.#observer = observer
    this.#inner = store.watch(range, after, { ...observer, events: (events) => this.#events.push(...events) })
  }

  deliver(): void {
    const events = this.#events.splice(0)
    if (events.length > 0) this.#observer.events(events)
    this.position = this.#inner.position
  }

  stop(): void {
    this.#inner.stop()
  }
}
