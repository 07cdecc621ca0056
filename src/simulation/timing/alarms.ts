/** Many alarms with one alarm of a clock. Setting an alarm again replaces it. */
import { type Alarm, type Clock, systemClock } from '../../lib/clock/clock.ts'

interface KeyedAlarm<Key> {
  readonly key: Key
  readonly at: number
}

export class Alarms<Key> {
  readonly #ring: (key: Key) => void
  readonly #clock: Clock
  /** A heap by time. Replaced alarms remain in it until their time. */
  readonly #heap: KeyedAlarm<Key>[] = []
  readonly #current = new Map<Key, KeyedAlarm<Key>>()
  #next: Alarm | undefined
  #nextAt = Number.POSITIVE_INFINITY
  #stopped = false

  /** `ring` must not throw. */
  constructor(ring: (key: Key) => void, clock: Clock = systemClock) {
    this.#ring = ring
    this.#clock = clock
  }

  /** `at` is in ms since 1970. An alarm in the past rings as soon as possible. */
  set(key: Key, at: number): void {
    if (this.#stopped || this.#current.get(key)?.at === at) return
    const alarm = { key, at }
    this.#current.set(key, alarm)
    this.#push(alarm)
    if (at < this.#nextAt) this.#arm()
  }

  /** Sets an alarm `ms` from now. */
  setAfter(key: Key, ms: number): void {
    this.set(key, this.#clock.now() + ms)
  }

  clear(key: Key): void {
    this.#current.delete(key)
  }

  stop(): void {
    this.#stopped = true
    this.#next?.cancel()
    this.#heap.length = 0
    this.#current.clear()
  }

  #arm(): void {
    this.#next?.cancel()
    const next = this.#heap[0]
    this.#nextAt = next?.at ?? Number.POSITIVE_INFINITY
    if (!next || this.#stopped) return
    this.#next = this.#clock.after(next.at - this.#clock.now(), () => this.#ringDue())
  }

  #ringDue(): void {
    // Never early: an alarm that is set again for its time would ring forever while the clock is paused.
    const until = this.#clock.now()
    for (let next = this.#heap[0]; next && next.at <= until; next = this.#heap[0]) {
      this.#pop()
      if (this.#current.get(next.key) !== next) continue
      this.#current.delete(next.key)
      this.#ring(next.key)
    }
    this.#arm()
  }

  #push(alarm: KeyedAlarm<Key>): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(alarm)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (heap[parent]!.at <= alarm.at) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = alarm
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++
      if (heap[child]!.at >= last.at) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}
