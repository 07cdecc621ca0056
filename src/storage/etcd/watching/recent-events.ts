/** The newest events of a feed, for watches that begin a little in the past. */
import type { ChangeEvent } from '../../store.ts'

const maxEvents = 2_000
/** Bytes of values. */
const maxBytes = 4 * 1024 * 1024

export class RecentEvents {
  #events: ChangeEvent[] = []
  #bytes = 0
  /** All events after this revision are here. */
  start: number

  constructor(start: number) {
    this.start = start
  }

  add(events: readonly ChangeEvent[]): void {
    for (const event of events) {
      this.#events.push(event)
      this.#bytes += sizeOf(event)
    }
    if (this.#events.length > 2 * maxEvents || this.#bytes > 2 * maxBytes) this.#trim()
  }

  /** Forgets all events; the next ones come after `start`. */
  reset(start: number): void {
    this.#events = []
    this.#bytes = 0
    this.start = start
  }

  /** The events after a revision, which must not be before `start`. */
  *after(revision: number): Iterable<ChangeEvent> {
    const events = this.#events
    let low = 0
    for (let high = events.length; low < high; ) {
      const middle = (low + high) >> 1
      if (events[middle]!.revision > revision) high = middle
      else low = middle + 1
    }
    for (let i = low; i < events.length; i++) yield events[i]!
  }

  #trim(): void {
    let dropped = 0
    for (; this.#events.length - dropped > maxEvents || this.#bytes > maxBytes; dropped++)
      this.#bytes -= sizeOf(this.#events[dropped]!)
    this.start = this.#events[dropped - 1]!.revision
    for (; this.#events[dropped]?.revision === this.start; dropped++) this.#bytes -= sizeOf(this.#events[dropped]!)
    this.#events = this.#events.slice(dropped)
  }
}

const sizeOf = ({ value, previous }: ChangeEvent): number => (value?.length ?? 0) + (previous?.value.length ?? 0)
