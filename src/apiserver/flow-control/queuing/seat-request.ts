/** A request as seats and queues see it, and a queue of such. */
import type { QueueLimits, Refusal } from './queue-set.ts'

export type Decision = 'execute' | Extract<Refusal, 'time-out'>

export interface SeatRequest {
  /** Seats while it executes. */
  readonly initialSeats: number
  /** Seats for what it causes, after it was answered. */
  readonly finalSeats: number
  /** Seats in all of its time: what it takes, and frees together. */
  readonly seats: number
  /** For how long it keeps them after it was answered. */
  readonly lingerMs: number
  /** Estimated, in seat-seconds. */
  readonly work: number
  readonly waitLimitMs: number
  /** The numbers of the queues that its flow may use. */
  hand(limits: QueueLimits): readonly number[]
  /** What it causes takes `most` seats in the end, for as much longer as they are fewer. */
  narrow(most: number): void
  /** Called when it is its turn, and too few seats are free for it. */
  unaccommodated(): void
  /** Called once, for requests that wait. */
  decided(decision: Decision): void

  // Kept by the queue set:
  queue: Queue | undefined
  executes: boolean
  arrivedAt: number
  arrivalR: number
  startedAt: number
}

export class Queue {
  readonly index: number
  /** In the order of arrival. */
  readonly waiting = new Set<SeatRequest>()
  executing = 0
  seatsInUse = 0
  /** Seat-seconds of all that wait. */
  workWaiting = 0
  /** The R at which the next request leaves. */
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
    // Nothing is left of the rounding of many additions.
    this.workWaiting = this.waiting.size === 0 ? 0 : this.workWaiting - request.work
    if (this.#oldest === request) this.#oldest = this.waiting.values().next().value
  }
}
