/** Calls by the time at which they are due. Those of the same time keep their order. */

/** A call that waits. */
export interface WaitingCall {
  readonly due: number
  /** Undefined when cancelled or done: it then stays in the heap until its time. */
  ring: (() => void) | undefined
  readonly order: number
}

export class AlarmHeap {
  readonly #heap: WaitingCall[] = []
  #cancelled = 0
  #order = 0

  /** When the next call is due; Infinity if none is. */
  get next(): number {
    this.#dropCancelled()
    return this.#heap[0]?.due ?? Number.POSITIVE_INFINITY
  }

  add(due: number, ring: () => void): WaitingCall {
    const call = { due, ring, order: this.#order++ }
    this.#push(call)
    return call
  }

  cancel(call: WaitingCall): void {
    if (!call.ring) return
    call.ring = undefined
    this.#cancelled++
    // Cancelled calls of far times would otherwise stay for long.
    if (this.#cancelled > 64 && this.#cancelled > this.#heap.length / 2) this.#rebuild()
  }

  /** Removes and returns the calls that are due at `time` or before, in their order. */
  takeUntil(time: number): (() => void)[] {
    const due: (() => void)[] = []
    for (let call = this.#heap[0]; call && call.due <= time; call = this.#heap[0]) {
      this.#pop()
      if (call.ring) due.push(call.ring)
      else this.#cancelled--
      call.ring = undefined
    }
    return due
  }

  clear(): void {
    for (const call of this.#heap) call.ring = undefined
    this.#heap.length = 0
    this.#cancelled = 0
  }

  #dropCancelled(): void {
    while (this.#heap[0] && !this.#heap[0].ring) {
      this.#pop()
      this.#cancelled--
    }
  }

  #rebuild(): void {
    const kept = this.#heap.filter(({ ring }) => ring)
    this.#heap.length = 0
    this.#cancelled = 0
    for (const call of kept) this.#push(call)
  }

  #push(call: WaitingCall): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(call)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(heap[parent]!, call)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = call
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

const isBefore = (one: WaitingCall, other: WaitingCall): boolean =>
  one.due < other.due || (one.due === other.due && one.order < other.order)
