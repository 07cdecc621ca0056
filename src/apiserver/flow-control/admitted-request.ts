/** A request in its priority level: it waits for seats, executes, and frees them. */
import type { Request } from '../http/exchange.ts'
import type { Flows } from './levels.ts'
import type { QueueLimits, Rejection } from './queuing/queue-set.ts'
import type { Decision, Queue, SeatRequest } from './queuing/seat-request.ts'
import { narrowed, seatsOf, type WorkEstimate, workOf } from './work-estimate.ts'

export class AdmittedRequest implements SeatRequest {
  readonly request: Request
  readonly flows: Flows
  readonly distinguisher: string
  estimate: WorkEstimate
  readonly waitLimitMs: number
  seats: number
  readonly work: number
  /** The state: it executes, or waits for `decision`, or is rejected for a reason. */
  state: 'execute' | 'wait' | Rejection = 'wait'
  /** Set by the caller that waits. */
  whenDecided: ((decision: Decision) => void) | undefined
  queue: Queue | undefined = undefined
  executes = false
  arrivedAt = 0
  arrivalR = 0
  startedAt = 0
  older: AdmittedRequest | undefined = undefined
  newer: AdmittedRequest | undefined = undefined

  constructor(request: Request, flows: Flows, distinguisher: string, estimate: WorkEstimate, waitLimitMs: number) {
    this.request = request
    this.flows = flows
    this.distinguisher = distinguisher
    this.estimate = estimate
    this.waitLimitMs = waitLimitMs
    this.seats = seatsOf(estimate)
    this.work = workOf(estimate)
  }

  get initialSeats(): number {
    return this.estimate.initialSeats
  }

  get finalSeats(): number {
    return this.estimate.finalSeats
  }

  get lingerMs(): number {
    return this.estimate.lingerMs
  }

  hand({ queues, handSize }: QueueLimits): readonly number[] {
    return this.flows.hand(this.distinguisher, queues, handSize)
  }

  narrow(most: number): void {
    this.estimate = narrowed(this.estimate, most)
    this.seats = seatsOf(this.estimate)
  }

  unaccommodated(): void {
    this.flows.tally.unaccommodated()
  }

  decided(decision: Decision): void {
    this.whenDecided?.(decision)
  }
}
