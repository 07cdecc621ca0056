/** Many alarms with one timer. Setting an alarm again replaces it. */

/** Alarms that are this close ring together. In ms. */
const toleranceMs = 5
/** The longest delay of Node's timers, in ms. */
const maxDelayMs = 2 ** 31 - 1

interface Alarm<Key> {
  readonly key: Key
  readonly at: number
}

export class Alarms<Key> {
  readonly #ring: (key: Key) => void
  readonly #now: () => number
  /** A heap by time. Replaced alarms remain in it until their time. */
  readonly #heap: Alarm<Key>[] = []
  readonly #current = new Map<Key, Alarm<Key>>()
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #stopped = false

  /** `ring` must not throw; `now` returns ms since 1970. */
  constructor(ring: (key: Key) => void, now: () => number = Date.now) {
    this.#ring = ring
    this.#now = now
  }

  /** `at` is in ms since 1970. An alarm in the past rings as soon as possible. */
  set(key: Key, at: number): void {
    if (this.#stopped || this.#current.get(key)?.at === at) return
    const alarm = { key, at }
    this.#current.set(key, alarm)
    this.#push(alarm)
    if (at < this.#timerAt) this.#arm()
  }

  clear(key: Key): void {
    this.#current.delete(key)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#heap.length = 0
    this.#current.clear()
  }

  #arm(): void {
    clearTimeout(this.#timer)
    const next = this.#heap[0]
    this.#timerAt = next?.at ?? Number.POSITIVE_INFINITY
    if (!next || this.#stopped) return
    this.#timer = setTimeout(() => this.#ringDue(), Math.min(Math.max(0, next.at - this.#now()), maxDelayMs))
  }

  #ringDue(): void {
    const until = this.#now() + toleranceMs
    for (let next = this.#heap[0]; next && next.at <= until; next = this.#heap[0]) {
      this.#pop()
      if (this.#current.get(next.key) !== next) continue
      this.#current.delete(next.key)
      this.#ring(next.key)
    }
    this.#arm()
  }

  #push(alarm: Alarm<Key>): void {
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
