/**
 * The seats of one priority level, and the queues in which requests wait for them: Fair Queuing for Server Requests
 * (KEP-1040). The measure R is the seat-seconds that each active queue has been due since the start; the queue whose
 * oldest request would be done first, if all queues had the same share, is served next. If no request waits, a request
 * costs a few additions.
 */
import type { Clock } from './clock.ts'
import { Queue, type SeatRequest } from './seat-request.ts'

export interface QueueLimits {
  /** The number of queues, of which each flow's hand has some. */
  readonly queues: number
  readonly handSize: number
  /** The maximum number of requests that wait in one queue. */
  readonly queueLengthLimit: number
}

/** `exempt` never waits; `reject` rejects requests that find no seats; others queue. */
export type Limitation = 'exempt' | 'reject' | QueueLimits

/** The reason of a rejection, as metrics name it. */
export type Rejection = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

/** Assumed service time in seconds until the real one is known. */
export const estimatedServiceSeconds = 0.003

const sweepMs = 250

export interface QueueSetOptions {
  readonly clock: Clock
  readonly limitation: Limitation
  /** The current number of seats. */
  readonly seats: number
  /** Called when the number of seats that could be used has changed. */
  readonly demand: (seats: number, now: number) => void
}

export class QueueSet {
  readonly #clock: Clock
  readonly #demand: (seats: number, now: number) => void
  #limitation: Limitation
  #limits: QueueLimits | undefined
  #seats: number
  /** Queues are created by their first request. */
  readonly #queues = new Map<number, Queue>()
  readonly #waitingQueues = new Set<Queue>()
  #activeQueues = 0
  #seatsWaiting = 0
  #dealt = 0
  /** The queue that was served last. */
  #robin = 0
  #currentR = 0
  #syncedAt: number
  #sweeping: (() => void) | undefined
  /** Completed requests whose seats stay occupied for the cost of their events, sorted by the time of release. */
  #lingering: { readonly request: SeatRequest; readonly until: number }[] = []
  #releasing: (() => void) | undefined
  waiting = 0
  executing = 0
  seatsInUse = 0
  /** S of the request that was dispatched last. */
  lastDispatchR = 0
  /** R at the last dispatch. */
  dispatchR = 0

  constructor({ clock, limitation, seats, demand }: QueueSetOptions) {
    this.#clock = clock
    this.#demand = demand
    this.#limitation = limitation
    this.#limits = typeof limitation === 'string' ? undefined : limitation
    this.#seats = seats
    this.#syncedAt = clock.now()
  }

  get limitation(): Limitation {
    return this.#limitation
  }

  get seats(): number {
    return this.#seats
  }

  get limits(): QueueLimits | undefined {
    return this.#limits
  }

  get currentR(): number {
    return this.#currentR
  }

  get idle(): boolean {
    return this.waiting === 0 && this.executing === 0 && this.#lingering.length === 0
  }

  /**
   * The least and greatest R at which the oldest requests of queues are due; `discounted`: less the estimate for
   * requests in progress.
   */
  dueBounds(discounted: boolean): readonly [number, number] {
    const due = [...this.#waitingQueues].map(
      ({ nextDispatchR, seatsInUse }) => nextDispatchR - (discounted ? seatsInUse * estimatedServiceSeconds : 0),
    )
    return due.length === 0 ? [0, 0] : [Math.min(...due), Math.max(...due)]
  }

  get queues(): Iterable<Queue> {
    return this.#queues.values()
  }

  /** Changes the limits. Waiting requests stay in their queues. */
  configure(limitation: Limitation, seats: number): void {
    this.#sync(this.#clock.now())
    this.#limitation = limitation
    this.#limits = typeof limitation === 'string' ? undefined : limitation
    this.#seats = seats
    this.#dispatch()
  }

  /**
   * Adds a request: it executes from now on, or waits until `request.decided` is called, or is rejected. Call `finish`
   * for a request that executes; one that waits may be cancelled.
   */
  start(request: SeatRequest): 'execute' | 'wait' | Rejection {
    const now = this.#clock.now()
    this.#sync(now)
    request.arrivedAt = now
    const limits = this.#limits
    if (!limits) {
      if (!this.#accommodates(request.seats)) return 'concurrency-limit'
      this.#execute(request, undefined, now)
      return 'execute'
    }
    const queue = this.#choose(request.hand(limits))
    request.arrivalR = this.#currentR
    if (queue.idle) queue.nextDispatchR = this.#currentR
    if (this.waiting === 0 && this.seatsInUse < this.#seats && this.#accommodates(request.seats)) {
      if (queue.nextDispatchR < this.#currentR) queue.nextDispatchR = this.#currentR
      this.#leaveAt(queue, request)
      this.#execute(request, queue, now)
      return 'execute'
    }
    return this.#enqueue(request, queue, limits, now)
  }

  #enqueue(request: SeatRequest, queue: Queue, limits: QueueLimits, now: number): 'execute' | 'wait' | Rejection {
    if (queue.waiting.size >= limits.queueLengthLimit && this.seatsInUse >= this.#seats) return 'queue-full'
    if (queue.idle) this.#activeQueues++
    request.queue = queue
    queue.add(request)
    this.#waitingQueues.add(queue)
    this.waiting++
    this.#seatsWaiting += request.seats
    this.#bound(queue)
    this.#dispatch(request)
    if (request.executes) return 'execute'
    // A wide request at the head may leave free seats that nobody gets: the limit of the queue applies nevertheless.
    if (queue.waiting.size > limits.queueLengthLimit) {
      this.#remove(request)
      return 'queue-full'
    }
    this.#reportDemand(now)
    this.#sweeping ??= this.#clock.later(sweepMs, () => this.#sweep())
    return 'wait'
  }

  /** Called when a request is done: frees its seats, immediately or after the time for its events. */
  finish(request: SeatRequest): void {
    const now = this.#clock.now()
    this.#sync(now)
    const { queue } = request
    this.executing--
    if (queue) {
      // It was charged for the estimate: replace that with the real time.
      queue.nextDispatchR -= request.initialSeats * (estimatedServiceSeconds - (now - request.startedAt) / 1000)
      this.#bound(queue)
      queue.executing--
      if (queue.idle) this.#activeQueues--
    }
    if (request.lingerMs > 0) {
      this.#linger(request, now + request.lingerMs)
      // Its seats stay occupied, but a request that waits until nothing executes may start.
      if (this.waiting > 0) this.#dispatch()
    } else this.#release(request, now)
  }

  /** Cancels a waiting request. Returns false if it does not wait. */
  cancel(request: SeatRequest): boolean {
    if (!request.queue?.waiting.has(request)) return false
    this.#sync(this.#clock.now())
    this.#remove(request)
    // It may have blocked others.
    this.#dispatch()
    return true
  }

  /** Advances R by the use of seats, divided by the number of active queues. */
  #sync(now: number): void {
    const elapsed = now - this.#syncedAt
    this.#syncedAt = now
    if (this.#activeQueues === 0) return
    this.#currentR +=
      (Math.min(this.seatsInUse + this.#seatsWaiting, this.#seats) / this.#activeQueues) * (elapsed / 1000)
  }

  /** The queue of a hand with the least waiting work. Empty queues are chosen in turn. */
  #choose(hand: readonly number[]): Queue {
    const { length } = hand
    const offset = this.#dealt++ % length
    if (this.waiting === 0) return this.#queue(hand[offset]!)
    let best: Queue | undefined
    for (let i = 0; i < length; i++) {
      const queue = this.#queue(hand[(offset + i) % length]!)
      if (!best || queue.workWaiting < best.workWaiting) best = queue
    }
    return best!
  }

  #queue(index: number): Queue {
    let queue = this.#queues.get(index)
    if (!queue) this.#queues.set(index, (queue = new Queue(index)))
    return queue
  }

  #accommodates(seats: number): boolean {
    if (this.#limitation === 'exempt') return true
    // A request wider than the level waits until nothing executes.
    return seats > this.#seats ? this.executing === 0 : this.seatsInUse + seats <= this.#seats
  }

  #execute(request: SeatRequest, queue: Queue | undefined, now: number): void {
    request.executes = true
    request.startedAt = now
    request.queue = queue
    this.executing++
    this.seatsInUse += request.seats
    if (queue) {
      if (queue.idle) this.#activeQueues++
      queue.executing++
      queue.seatsInUse += request.seats
    }
    this.#reportDemand(now)
  }

  #leaveAt(queue: Queue, request: SeatRequest): void {
    this.#robin = queue.index
    if (request.finalSeats > this.#seats) request.narrow(this.#seats)
    this.lastDispatchR = queue.nextDispatchR
    this.dispatchR = this.#currentR
    queue.nextDispatchR += request.work
  }

  /** Gives seats to waiting requests, while there are some. `arriving` is not notified: `start` returns its state. */
  #dispatch(arriving?: SeatRequest): void {
    while (this.waiting > 0 && this.seatsInUse < this.#seats) {
      const next = this.#next()
      if (!next) return
      if (!this.#accommodates(next.seats)) {
        next.unaccommodated()
        return
      }
      const queue = next.queue!
      this.#take(next, queue)
      this.#leaveAt(queue, next)
      const now = this.#clock.now()
      this.#execute(next, queue, now)
      // It counted as active while it waited, and again now that it executes.
      if (queue.executing === 1 && queue.waiting.size === 0) this.#activeQueues--
      this.#bound(queue)
      if (next !== arriving) next.decided('execute')
    }
  }

  /** The oldest request of the queue that would be done first; of equal ones, that of the queue served longest ago. */
  #next(): SeatRequest | undefined {
    let best: SeatRequest | undefined
    let earliest = Number.POSITIVE_INFINITY
    let turn = Number.POSITIVE_INFINITY
    for (const queue of this.#waitingQueues) {
      const oldest = queue.oldest!
      const finish = queue.nextDispatchR + oldest.work
      if (finish > earliest) continue
      const distance =
        queue.index > this.#robin ? queue.index - this.#robin : queue.index - this.#robin + Number.MAX_SAFE_INTEGER / 2
      if (finish === earliest && distance >= turn) continue
      best = oldest
      earliest = finish
      turn = distance
    }
    return best
  }

  /** Removes a request from its queue. */
  #take(request: SeatRequest, queue: Queue): void {
    queue.remove(request)
    if (queue.waiting.size === 0) this.#waitingQueues.delete(queue)
    this.waiting--
    this.#seatsWaiting -= request.seats
  }

  /** Removes a request from its queue without having served it. */
  #remove(request: SeatRequest): void {
    const queue = request.queue!
    this.#take(request, queue)
    request.queue = undefined
    if (queue.idle) this.#activeQueues--
    this.#bound(queue)
    this.#reportDemand(this.#clock.now())
  }

  /** A queue cannot save up unused share: in R, no request is dispatched before its arrival. */
  #bound(queue: Queue): void {
    const { oldest } = queue
    if (oldest && queue.nextDispatchR < oldest.arrivalR) queue.nextDispatchR = oldest.arrivalR
  }

  #release(request: SeatRequest, now: number): void {
    this.seatsInUse -= request.seats
    if (request.queue) request.queue.seatsInUse -= request.seats
    this.#reportDemand(now)
    if (this.waiting > 0) this.#dispatch()
  }

  #linger(request: SeatRequest, until: number): void {
    const list = this.#lingering
    let at = list.length
    while (at > 0 && list[at - 1]!.until > until) at--
    list.splice(at, 0, { request, until })
    // If others are due before it, the timer is set for them.
    if (at > 0) return
    this.#releasing?.()
    this.#releasing = this.#clock.later(request.lingerMs, () => this.#releaseDue())
  }

  /** Frees the seats of completed requests that are due; one timer serves all. */
  #releaseDue(): void {
    this.#releasing = undefined
    const now = this.#clock.now()
    this.#sync(now)
    let due = 0
    while (due < this.#lingering.length && this.#lingering[due]!.until <= now) due++
    for (const { request } of this.#lingering.splice(0, due)) this.#release(request, now)
    const first = this.#lingering[0]
    if (first) this.#releasing ??= this.#clock.later(Math.max(1, first.until - now), () => this.#releaseDue())
  }

  /** Rejects requests that have waited too long; one timer serves all, while any wait. */
  #sweep(): void {
    this.#sweeping = undefined
    const now = this.#clock.now()
    this.#sync(now)
    for (const queue of [...this.#waitingQueues]) {
      for (const request of queue.waiting) {
        if (now - request.arrivedAt < request.waitLimitMs) continue
        this.#remove(request)
        request.decided('time-out')
      }
    }
    this.#dispatch()
    if (this.waiting > 0) this.#sweeping ??= this.#clock.later(sweepMs, () => this.#sweep())
  }

  #reportDemand(now: number): void {
    this.#demand(this.seatsInUse + this.#seatsWaiting, now)
  }

  stop(): void {
    this.#sweeping?.()
    this.#releasing?.()
  }
}
