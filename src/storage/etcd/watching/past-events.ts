/** Reads the history of etcd in portions: a watch that is paused while its events are not read. */
import type { ChangeEvent, Changes, PortionSize } from '../../store.ts'
import type { Channel } from '../client/channel.ts'
import { ResumingWatch } from './resuming-watch.ts'

export interface PastEventsOptions {
  readonly channel: Channel
  readonly after: number
  readonly wantsPrevious: boolean
}

export interface Portion extends PortionSize {
  readonly matches: (key: string) => boolean
  /** Waits for events until this revision is reached, which must exist or will soon. */
  readonly until: number
}

/** Waiting events that pause the watch. */
const maxWaiting = 5_000

export class PastEvents {
  readonly #watch: ResumingWatch
  #waiting: ChangeEvent[] = []
  /** Index of the first event in `#waiting` that has not been returned. */
  #next = 0
  #error: Error | undefined
  #wake: () => void = () => {}
  /** All events up to this revision have been returned. */
  position: number

  constructor(options: PastEventsOptions) {
    this.position = options.after
    this.#watch = new ResumingWatch({
      ...options,
      events: (events) => this.#receive(events),
      compacted: (error) => this.close(error),
    })
  }

  /**
   * Returns whole revisions until the portion is full, or there are no more after `until`. Rejects with CompactedError.
   */
  async read({ matches, until, events: maxEvents, bytes: maxBytes }: Portion): Promise<Changes> {
    const events: ChangeEvent[] = []
    let bytes = 0
    while (events.length < maxEvents && bytes < maxBytes) {
      if (this.#error) throw this.#error
      if (this.#next === this.#waiting.length) {
        if (this.position >= until) break
        await this.#more()
        continue
      }
      const revision = this.#waiting[this.#next]!.revision
      while (this.#waiting[this.#next]?.revision === revision) {
        const event = this.#waiting[this.#next++]!
        if (!matches(event.key)) continue
        events.push(event)
        bytes += (event.value?.length ?? 0) + (event.previous?.value.length ?? 0)
      }
      this.position = revision
    }
    return { events, through: this.position }
  }

  /** Stops the watch. Waiting and later reads reject with `error`. */
  close(error: Error): void {
    this.#error ??= error
    this.#watch.stop()
    this.#wake()
  }

  #receive(events: readonly ChangeEvent[]): void {
    this.#waiting = this.#waiting.slice(this.#next).concat(events)
    this.#next = 0
    if (this.#waiting.length > maxWaiting) this.#watch.pause()
    this.#wake()
  }

  async #more(): Promise<void> {
    this.#waiting = []
    this.#next = 0
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      this.#watch.resume()
    })
  }
}
