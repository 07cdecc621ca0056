/**
 * The seats of one priority level, and the queues in which requests wait for them: Fair Queuing for Server Requests
 * (KEP-1040). The measure R is the seat-seconds that each active queue has been due since the start; the queue whose
 * oldest request would be done first, had all queues the same share, is served next. Where nobody waits, a request
 * costs a few additions.
 */
import type { Clock } from './clock.ts'
import { Queue, type SeatRequest } from './seat-request.ts'

export interface QueueLimits {
  /** How many queues there are, of which a flow's hand has some. */
  readonly queues: number
  readonly handSize: number
  /** Requests that may wait in one queue. */
  readonly queueLengthLimit: number
}

/** `exempt` never waits; `reject` refuses what finds no seat; others queue. */
export type Limitation = 'exempt' | 'reject' | QueueLimits

/** Why a request is refused, as metrics name it. */
export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

/** What is not known beforehand of a request is how long it takes. In seconds. */
export const estimatedServiceSeconds = 0.003

const sweepMs = 250

export interface QueueSetOptions {
  readonly clock: Clock
  readonly limitation: Limitation
  /** How many seats there are at the moment. */
  readonly seats: number
  /** Told whenever the number of seats that could be used has changed. */
  readonly demand: (seats: number, now: number) => void
}

export class QueueSet {
  readonly #clock: Clock
  readonly #demand: (seats: number, now: number) => void
  #limitation: Limitation
  #limits: QueueLimits | undefined
  #seats: number
  /** Queues come into being with their first request. */
  readonly #queues = new Map<number, Queue>()
  readonly #waitingQueues = new Set<Queue>()
  #activeQueues = 0
  #seatsWaiting = 0
  #dealt = 0
  /** Whose turn was last. */
  #robin = 0
  #currentR = 0
  #syncedAt: number
  #sweeping: (() => void) | undefined
  /** Requests that are done, whose seats stay taken for what their events cost; the first to go is first. */
  #lingering: { readonly request: SeatRequest; readonly until: number }[] = []
  #releasing: (() => void) | undefined
  waiting = 0
  executing = 0
  seatsInUse = 0
  /** S of the request that was dispatched last. */
  lastDispatchR = 0
  /** R when that was. */
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
   * The least and greatest R at which the oldest requests of queues are due; `discounted`: less what is estimated to be
   * under way.
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

  /** Other rules from now on. Requests that wait stay in their queues. */
  configure(limitation: Limitation, seats: number): void {
    this.#sync(this.#clock.now())
    this.#limitation = limitation
    this.#limits = typeof limitation === 'string' ? undefined : limitation
    this.#seats = seats
    this.#dispatch()
  }

  /**
   * Takes a request in: it executes from now on, or waits until `request.decided` is called, or is refused. Who
   * executes calls `finish`, who waits may `cancel`.
   */
  start(request: SeatRequest): 'execute' | 'wait' | Refusal {
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

  #enqueue(request: SeatRequest, queue: Queue, limits: QueueLimits, now: number): 'execute' | 'wait' | Refusal {
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
    // A wide request at the head may leave seats free that nobody gets: the queue has its bound all the same.
    if (queue.waiting.size > limits.queueLengthLimit) {
      this.#remove(request)
      return 'queue-full'
    }
    this.#tellDemand(now)
    this.#sweeping ??= this.#clock.later(sweepMs, () => this.#sweep())
    return 'wait'
  }

  /** The request is done: its seats are free, at once or when its events have gone out. */
  finish(request: SeatRequest): void {
    const now = this.#clock.now()
    this.#sync(now)
    const { queue } = request
    this.executing--
    if (queue) {
      // It was charged for the estimate: what it really took takes its place.
      queue.nextDispatchR -= request.initialSeats * (estimatedServiceSeconds - (now - request.startedAt) / 1000)
      this.#bound(queue)
      queue.executing--
      if (queue.idle) this.#activeQueues--
    }
    if (request.lingerMs > 0) {
      this.#linger(request, now + request.lingerMs)
      // Its seats stay taken, but who waits until nothing executes may go on.
      if (this.waiting > 0) this.#dispatch()
    } else this.#release(request, now)
  }

  /** A request that waits does not want to any more. False if it does not wait. */
  cancel(request: SeatRequest): boolean {
    if (!request.queue?.waiting.has(request)) return false
    this.#sync(this.#clock.now())
    this.#remove(request)
    // It may have stood before others.
    this.#dispatch()
    return true
  }

  /** R goes on as fast as seats are used, divided among the queues that have something to do. */
  #sync(now: number): void {
    const elapsed = now - this.#syncedAt
    this.#syncedAt = now
    if (this.#activeQueues === 0) return
    this.#currentR +=
      (Math.min(this.seatsInUse + this.#seatsWaiting, this.#seats) / this.#activeQueues) * (elapsed / 1000)
  }

  /** The queue of a hand in which least work waits. Where several have none, they take turns. */
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
    // What is wider than the level itself waits until nothing executes.
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
    this.#tellDemand(now)
  }

  #leaveAt(queue: Queue, request: SeatRequest): void {
    this.#robin = queue.index
    if (request.finalSeats > this.#seats) request.narrow(this.#seats)
    this.lastDispatchR = queue.nextDispatchR
    this.dispatchR = this.#currentR
    queue.nextDispatchR += request.work
  }

  /** Gives seats to those that wait, for as long as there are some. `arriving` is told by what `start` returns. */
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
      // It counted as active while it waited, and does so now that it executes.
      if (queue.executing === 1 && queue.waiting.size === 0) this.#activeQueues--
      this.#bound(queue)
      if (next !== arriving) next.decided('execute')
    }
  }

  /** The oldest request of the queue that would be done first; of equal ones, that whose turn was longest ago. */
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

  /** Takes a request out of its queue. */
  #take(request: SeatRequest, queue: Queue): void {
    queue.remove(request)
    if (queue.waiting.size === 0) this.#waitingQueues.delete(queue)
    this.waiting--
    this.#seatsWaiting -= request.seats
  }

  /** A request leaves its queue without having been served. */
  #remove(request: SeatRequest): void {
    const queue = request.queue!
    this.#take(request, queue)
    request.queue = undefined
    if (queue.idle) this.#activeQueues--
    this.#bound(queue)
    this.#tellDemand(this.#clock.now())
  }

  /** A queue that could not use its share does not save it up: nothing is dispatched, in R, before it came. */
  #bound(queue: Queue): void {
    const { oldest } = queue
    if (oldest && queue.nextDispatchR < oldest.arrivalR) queue.nextDispatchR = oldest.arrivalR
  }

  #release(request: SeatRequest, now: number): void {
    this.seatsInUse -= request.seats
    if (request.queue) request.queue.seatsInUse -= request.seats
    this.#tellDemand(now)
    if (this.waiting > 0) this.#dispatch()
  }

  #linger(request: SeatRequest, until: number): void {
    const list = this.#lingering
    let at = list.length
    while (at > 0 && list[at - 1]!.until > until) at--
    list.splice(at, 0, { request, until })
    // If others go before it, the timer is theirs.
    if (at > 0) return
    this.#releasing?.()
    this.#releasing = this.#clock.later(request.lingerMs, () => this.#releaseDue())
  }

  /** One timer frees the seats of all that linger. */
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

  /** Refuses those that have waited too long: one timer for all, while somebody waits. */
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

  #tellDemand(now: number): void {
    this.#demand(this.seatsInUse + this.#seatsWaiting, now)
  }

  stop(): void {
    this.#sweeping?.()
    this.#releasing?.()
  }
}
