/**
 * A store as one of several servers sees it: changes of others arrive some time after they were committed, its own
 * before the commit ends.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ChangeEvent, KeyRange, Observer, Store, Watch } from '../../src/storage/store.ts'
import { storeLike } from '../../src/storage/suite/store-like.fixture.ts'

/** Returns the view of one server on a store in this process. `lagMs` is the delay of the changes of others. */
export function laggingStore(inner: Store, lagMs: number): Store {
  const watches = new Set<LaggingWatch>()
  return storeLike(inner, {
    isShared: true,
    async commit(transaction) {
      const result = await inner.commit(transaction)
      if (result.committed) for (const watch of watches) watch.deliver()
      return result
    },
    watch(range, after, observer) {
      const watch = new LaggingWatch(inner, range, after, observer, lagMs, () => watches.delete(watch))
      watches.add(watch)
      return watch
    },
  })
}

class LaggingWatch implements Watch {
  position: number
  readonly #inner: Watch
  readonly #observer: Observer
  readonly #stopped: () => void
  #events: ChangeEvent[] = []
  readonly #timer: NodeJS.Timeout

  constructor(store: Store, range: KeyRange, after: number, observer: Observer, lagMs: number, stopped: () => void) {
    this.position = after
    this.#observer = observer
    this.#stopped = stopped
    this.#inner = store.watch(range, after, {
      wantsPrevious: observer.wantsPrevious ?? true,
      events: (events) => {
        this.#events.push(...events)
        void delay(lagMs, undefined, { ref: false }).then(() => this.deliver())
      },
      caughtUp: () => {
        this.deliver()
        observer.caughtUp?.()
      },
      end: (error) => observer.end(error),
    })
    // Changes outside of the range move the position, too.
    this.#timer = setInterval(() => this.#events.length === 0 && this.deliver(), lagMs).unref()
  }

  deliver(): void {
    const events = this.#events.splice(0)
    const { position } = this.#inner
    if (events.length > 0) this.#observer.events(events)
    this.position = position
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#stopped()
    this.#inner.stop()
  }
}
