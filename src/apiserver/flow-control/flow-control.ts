/**
 * Priority and fairness (KEP-1040): finds the priority level of a request, and when it may execute. In this single
 * process a request executes until its response is complete: most of that time it waits for the store or another
 * server.
 */

import { LinkedList } from '../../lib/collections/linked-list.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Request } from '../http/exchange.ts'
import { AdmittedRequest } from './admitted-request.ts'
import { Levels } from './levels.ts'
import { DelayedRejections } from './pacing/delayed-rejections.ts'
import { PacedStarts } from './pacing/paced-starts.ts'
import type { PriorityLevel } from './priority-level.ts'
import { type Clock, realClock } from './queuing/clock.ts'
import type { Rejection } from './queuing/queue-set.ts'
import { FlowMetrics, type RequestKind } from './reporting/flow-metrics.ts'
import type { LevelUse } from './reporting/level-use.ts'
import { RequestKinds } from './reporting/request-kinds.ts'
import { waitLimit } from './wait-limit.ts'
import { WatchCounts } from './watch-counts.ts'
import { type CollectionSize, type Estimator, estimateWork } from './work-estimate.ts'

const borrowingPeriodMs = 10_000

export interface FlowControlSettings {
  /** Seats of the whole server: the maximum of requests in progress, reads and writes together. */
  readonly seats: number
  readonly requestTimeoutMs: number
  readonly size: CollectionSize
  readonly metrics: MetricsRegistry
  readonly clock?: Clock
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** Returns true for verbs that metrics count as mutating. */
export const isMutating = (verb: string): boolean => !readVerbs.has(verb)

const kindOf = ({ info }: Request): RequestKind => (isMutating(info.verb) ? 'mutating' : 'readOnly')

export class FlowControl {
  readonly levels: Levels
  readonly watches = new WatchCounts()
  /** Delays rejections if there are many. */
  readonly rejections = new DelayedRejections()
  /** Requests that wait at any level. */
  readonly waiting = new Set<AdmittedRequest>()
  readonly executing = new LinkedList<AdmittedRequest>()
  readonly #starts = new PacedStarts()
  readonly #clock: Clock
  readonly #estimator: Estimator
  readonly #metrics: FlowMetrics
  readonly #kinds: RequestKinds
  readonly #requestTimeoutMs: number
  readonly #uses = new WeakMap<PriorityLevel, LevelUse>()
  readonly #dropped: (kind: string) => void
  #stopBorrowing: (() => void) | undefined

  constructor({ seats, requestTimeoutMs, size, metrics, clock = realClock }: FlowControlSettings) {
    this.#clock = clock
    this.#requestTimeoutMs = requestTimeoutMs
    this.#estimator = { size, watches: this.watches }
    this.#metrics = new FlowMetrics(metrics, {
      levels: () => this.levels.all,
      fairFraction: () => this.levels.fairFraction,
    })
    this.#kinds = new RequestKinds(this.#metrics, clock.now())
    metrics.gauge('apiserver_current_inqueue_requests', 'Requests that wait in queues now.', ['request_kind'], () => [
      [['mutating'], this.#kinds.inQueue('mutating')],
      [['readOnly'], this.#kinds.inQueue('readOnly')],
    ])
    this.#dropped = droppedRequests(metrics)
    this.levels = new Levels({
      clock,
      seats,
      tally: (level, schema) => this.#metrics.tally(level, schema),
      limitsChanged: (executing, waiting) => this.#kinds.of(executing, waiting, clock.now()),
      useChanged: (level, demand, now) => this.#use(level, now).changed(level, demand, now),
    })
  }

  /** Starts the periodic redistribution of seats between levels. */
  start(): void {
    const borrow = (): void => {
      this.levels.reap()
      this.levels.borrow()
      this.#stopBorrowing = this.#clock.later(borrowingPeriodMs, borrow)
    }
    this.#stopBorrowing = this.#clock.later(borrowingPeriodMs, borrow)
  }

  stop(): void {
    this.#stopBorrowing?.()
    this.levels.stop()
  }

  /**
   * Classifies a request and tries to get its seats: `state` is the result. If it executes, call `finish` when it is
   * done; if it waits, call `wait`.
   */
  admit(request: Request): AdmittedRequest {
    const flows = this.levels.find(request)
    const { level, schema, tally } = flows
    const estimate = estimateWork(this.#estimator, request, level.maxSeats, tally)
    const limit = waitLimit(request, this.#requestTimeoutMs, performance.now())
    // With a single queue there is no need to distinguish flows.
    const distinguisher = (level.queues.limits?.queues ?? 0) > 1 ? schema.distinguisher(request) : ''
    const admitted = new AdmittedRequest(request, flows, distinguisher, estimate, limit)
    tally.estimated(admitted.seats)
    const state = level.queues.start(admitted)
    admitted.state = state
    if (state === 'execute') {
      if (admitted.queue) tally.queued(admitted.queue.waiting.size + 1)
      this.#begin(admitted)
    } else if (state === 'wait') this.#recordEnqueued(admitted)
    else {
      tally.waited(0, false)
      this.#recordRejection(admitted, state)
    }
    return admitted
  }

  #begin(admitted: AdmittedRequest): void {
    const { flows, seats, arrivedAt, startedAt, request } = admitted
    this.executing.add(admitted)
    flows.level.outcomes.dispatched++
    flows.tally.begin(seats)
    this.#kinds.executing(kindOf(request), 1, startedAt)
    if (!flows.level.exempt) flows.tally.waited((startedAt - arrivedAt) / 1000, true)
  }

  #recordEnqueued(admitted: AdmittedRequest): void {
    this.waiting.add(admitted)
    this.#kinds.waiting(kindOf(admitted.request), 1, admitted.arrivedAt)
    admitted.flows.tally.enqueued(admitted.seats)
    admitted.flows.tally.queued(admitted.queue!.waiting.size)
  }

  /**
   * Waits until a queued request may execute: resolves with `execute` or the reason of its rejection. Ends when the
   * client disconnects.
   */
  wait(admitted: AdmittedRequest): Promise<'execute' | Rejection> {
    // Its seats may be reduced when it leaves its queue.
    const { flows, request, seats } = admitted
    return new Promise((resolve) => {
      const cancel = (): void => {
        if (flows.level.queues.cancel(admitted)) settle('cancelled')
      }
      let stopListening = (): void => {}
      const settle = (decision: 'execute' | Rejection): void => {
        stopListening()
        this.waiting.delete(admitted)
        this.#kinds.waiting(kindOf(request), -1, this.#clock.now())
        flows.tally.dequeued(seats)
        admitted.state = decision
        if (decision === 'execute') {
          this.#begin(admitted)
          this.#starts.schedule(() => resolve('execute'))
          return
        }
        // Upstream's label says whether it entered a queue.
        flows.tally.waited((this.#clock.now() - admitted.arrivedAt) / 1000, true)
        this.#recordRejection(admitted, decision)
        resolve(decision)
      }
      admitted.whenDecided = settle
      stopListening = request.onClose(cancel)
    })
  }

  /** Called when the request has its response. */
  finish(admitted: AdmittedRequest): void {
    const { flows, seats, request } = admitted
    const now = this.#clock.now()
    this.executing.remove(admitted)
    this.#kinds.executing(kindOf(request), -1, now)
    flows.level.queues.finish(admitted)
    flows.tally.end(seats, (now - admitted.startedAt) / 1000, request.info.verb === 'watch')
  }

  #recordRejection({ flows, request }: AdmittedRequest, reason: Rejection): void {
    flows.tally.rejected(reason)
    const { outcomes } = flows.level
    outcomes.rejected++
    if (reason === 'time-out') outcomes.timedOut++
    else if (reason === 'cancelled') outcomes.cancelled++
    flows.level.retryAfter.countRejection(Math.floor(this.#clock.now() / 1000))
    this.#dropped(kindOf(request))
  }

  #use(level: PriorityLevel, now: number): LevelUse {
    let use = this.#uses.get(level)
    if (!use) this.#uses.set(level, (use = this.#metrics.use(level.name, now)))
    return use
  }
}

/** Counts rejected requests, with priority and fairness or plain limits. */
export function droppedRequests(metrics: MetricsRegistry): (kind: string) => void {
  const dropped = metrics.counter(
    'apiserver_dropped_requests_total',
    'Requests that were rejected because there were too many.',
    ['request_kind'],
  )
  return (kind) => dropped([kind]).add()
}
