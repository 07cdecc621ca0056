/** The view of a request that seats and queues have, and a queue of such requests. */
import type { QueueLimits, Rejection } from './queue-set.ts'

export type Decision = 'execute' | Extract<Rejection, 'time-out'>

export interface SeatRequest {
  /** Seats while it executes. */
  readonly initialSeats: number
  /** Seats for the events that it causes, after its response. */
  readonly finalSeats: number
  /** Seats that it occupies the whole time: taken and freed together. */
  readonly seats: number
  /** The time that the seats stay occupied after the response. */
  readonly lingerMs: number
  /** Estimated, in seat-seconds. */
  readonly work: number
  readonly waitLimitMs: number
  /** The numbers of the queues that its flow may use. */
  hand(limits: QueueLimits): readonly number[]
  /** Reduces the final seats to `most`, and extends their time in proportion. */
  narrow(most: number): void
  /** Called when its turn comes, but too few seats are free. */
  unaccommodated(): void
  /** Called once, for requests that wait. */
  decided(decision: Decision): void

  // Set by the queue set:
  queue: Queue | undefined
  executes: boolean
  arrivedAt: number
  arrivalR: number
  startedAt: number
}

export class Queue {
  readonly index: number
  /** In order of arrival. */
  readonly waiting = new Set<SeatRequest>()
  executing = 0
  seatsInUse = 0
  /** Seat-seconds of all waiting requests. */
  workWaiting = 0
  /** The R at which the next request is dispatched. */
  nextDispatchR = 0
  #oldest: SeatRequest | undefined

  constructor(index: number) {
    this.index = index
  }

  get idle(): boolean {
    return this.executing === 0 && this.waiting.size === 0
  }

  get oldest(): SeatRequest | undefined {
    return this.#oldest
  }

  add(request: SeatRequest): void {
    this.#oldest ??= request
    this.waiting.add(request)
    this.workWaiting += request.work
  }

  remove(request: SeatRequest): void {
    this.waiting.delete(request)
    // Reset the rounding errors of many additions.
    this.workWaiting = this.waiting.size === 0 ? 0 : this.workWaiting - request.work
    if (this.#oldest === request) this.#oldest = this.waiting.values().next().value
  }
}
