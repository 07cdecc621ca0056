/** A watch that begins in the past: reads history from etcd until the live feed has the rest. */
import { withinRange } from '../../key-order.ts'
import type { KeyRange, Observer, PortionSize, Watch } from '../../store.ts'
import { PastEvents, type PastEventsOptions } from './past-events.ts'

export interface LateWatchOptions extends PastEventsOptions {
  readonly range: KeyRange
  readonly observer: Observer
  /** Continues as a live watch, if the feed has all events after `position`. */
  join(position: number): Watch | undefined
  /** Called when the watch needs no history any more. */
  ended(): void
}

const stepSize: PortionSize = { events: 500, bytes: 4 * 1024 * 1024 }

export class LateWatch implements Watch {
  readonly #options: LateWatchOptions
  readonly #past: PastEvents
  #live: Watch | undefined
  #isOver = false

  constructor(options: LateWatchOptions) {
    this.#options = options
    this.#past = new PastEvents(options)
    void this.#run()
  }

  get position(): number {
    return this.#live?.position ?? this.#past.position
  }

  stop(): void {
    this.#live?.stop()
    this.#finish(new Error('the watch was stopped'))
  }

  /** Ends the watch, unless it has become live. */
  end(error: Error): void {
    if (!this.#finish(error)) return
    try {
      this.#options.observer.end(error)
    } catch (thrown) {
      process.emitWarning(
        'an observer of the store failed while its watch ended: ' +
          `${thrown instanceof Error ? thrown.stack : String(thrown)}`,
        'StoreWarning',
      )
    }
  }

  async #run(): Promise<void> {
    const { range, observer, join } = this.#options
    const matches = withinRange(range)
    try {
      while (!this.#isOver) {
        const { events } = await this.#past.read({ matches, until: this.#past.position + 1, ...stepSize })
        if (this.#isOver) return
        if (events.length > 0) observer.events(events)
        if (this.#isOver) return
        this.#live = join(this.#past.position)
        if (this.#live) this.#finish(new Error('the watch is live'))
      }
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** Returns false if the watch was over before. */
  #finish(reason: Error): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#past.close(reason)
    this.#options.ended()
    return true
  }
}
