/** The metrics `apiserver_flowcontrol_…`, under upstream's names. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { PriorityLevel } from '../priority-level.ts'
import type { Rejection } from '../queuing/queue-set.ts'
import { FlowTally } from './flow-tally.ts'
import { TimeRatio } from './time-ratio.ts'

const prefix = 'apiserver_flowcontrol_'
const seconds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const queueLengths = [0, 10, 25, 50, 100, 250, 500, 1000]
const requestParts = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1]
const seatParts = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const demandParts = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6]
const kindParts = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]

const byLevel = ['priority_level']
const byFlow = ['priority_level', 'flow_schema']

export type RequestKind = 'mutating' | 'readOnly'

/** Reports the use of a level over time. */
export interface LevelUse {
  changed(level: PriorityLevel, demand: number, now: number): void
}

export interface FlowMetrics {
  tally(level: string, schema: string): FlowTally
  use(level: string, now: number): LevelUse
  /** Requests that execute and that wait, by kind. */
  readonly kinds: (phase: 'executing' | 'waiting', kind: RequestKind, now: number) => TimeRatio
}

/** The state that gauges read on a scrape. */
export interface FlowState {
  readonly levels: () => Iterable<PriorityLevel>
  readonly fairFraction: () => number
}

export function flowMetrics(metrics: MetricsRegistry, state: FlowState): FlowMetrics {
  const tallies = new Map<string, FlowTally>()
  const counter = (name: string, help: string, labels: readonly string[]) =>
    metrics.counter(prefix + name, help, labels)
  const histogram = (name: string, help: string, buckets: readonly number[], labels: readonly string[]) =>
    metrics.histogram(prefix + name, help, buckets, labels)
  const levelGauge = (name: string, help: string, read: (level: PriorityLevel) => number): void =>
    metrics.gauge(prefix + name, help, byLevel, () =>
      [...state.levels()].map((level) => [[level.name], read(level)] as const),
    )
  const flowGauge = (name: string, help: string, read: (tally: FlowTally) => number): void =>
    metrics.gauge(prefix + name, help, byFlow, () =>
      [...tallies.values()].map((tally) => [[tally.level, tally.schema], read(tally)] as const),
    )

  flowGauge(
    'current_executing_requests',
    'Requests that execute; watches only while they begin.',
    ({ executing }) => executing,
  )
  flowGauge('current_executing_seats', 'Seats of requests that execute.', ({ executingSeats }) => executingSeats)
  flowGauge('current_inqueue_requests', 'Requests that wait in queues.', ({ waiting }) => waiting)
  flowGauge('current_inqueue_seats', 'Seats that the requests in queues wait for.', ({ waitingSeats }) => waitingSeats)
  flowGauge('request_concurrency_in_use', 'Seats of requests that execute.', ({ executingSeats }) => executingSeats)

  levelGauge('current_limit_seats', 'Seats of a level at the moment.', ({ queues }) => queues.seats)
  levelGauge('nominal_limit_seats', 'Seats of a level that follow from its shares.', ({ nominal }) => nominal)
  levelGauge('request_concurrency_limit', 'Seats of a level that follow from its shares.', ({ nominal }) => nominal)
  levelGauge('lower_limit_seats', 'Seats that a level never lends.', ({ least }) => least)
  levelGauge('upper_limit_seats', 'Seats that a level has at most, with what it borrows.', ({ most }) => most)
  levelGauge(
    'demand_seats_high_watermark',
    'The most seats that a level could have used in the last period.',
    ({ demand }) => demand.highWatermark,
  )
  levelGauge(
    'demand_seats_average',
    'Seats that a level could have used in the last period, on average.',
    ({ demand }) => demand.average,
  )
  levelGauge(
    'demand_seats_stdev',
    'Standard deviation of the seats that a level could have used in the last period.',
    ({ demand }) => demand.deviation,
  )
  levelGauge(
    'demand_seats_smoothed',
    'Seats that a level could have used, smoothed over time.',
    ({ demand }) => demand.smoothed,
  )
  levelGauge('target_seats', 'Target of the division of seats.', ({ target }) => target)
  levelGauge('current_r', 'R, the seat-seconds of each queue, at the last change.', ({ queues }) => queues.currentR)
  levelGauge('dispatch_r', 'R at the last dispatch.', ({ queues }) => queues.dispatchR)
  levelGauge(
    'latest_s',
    'S, the R at which it was due, of the request dispatched last.',
    ({ queues }) => queues.lastDispatchR,
  )
  const bounds = (name: string, help: string, discount: boolean): void =>
    metrics.gauge(prefix + name, help, [...byLevel, 'bound'], () =>
      [...state.levels()].flatMap((level) => {
        const [min, max] = level.queues.dueBounds(discount)
        return [[[level.name, 'min'], min] as const, [[level.name, 'max'], max] as const]
      }),
    )
  bounds('next_s_bounds', 'Least and greatest S of the oldest requests of queues.', false)
  bounds('next_discounted_s_bounds', 'The same, less what is estimated to be under way.', true)
  metrics.gauge(`${prefix}seat_fair_frac`, 'The factor by which targets became seats.', [], () => [
    [[], state.fairFraction()],
  ])

  const dispatched = counter('dispatched_requests_total', 'Requests that executed.', byFlow)
  const refused = counter('rejected_requests_total', 'Requests that were rejected.', [...byFlow, 'reason'])
  const unaccommodated = counter(
    'request_dispatch_no_accommodation_total',
    'Requests whose turn it was when too few seats were free for them.',
    byFlow,
  )
  const waited = histogram('request_wait_duration_seconds', 'How long requests waited in their queue.', seconds, [
    ...byFlow,
    'execute',
  ])
  const took = histogram(
    'request_execution_seconds',
    'How long requests executed; watches until they had begun.',
    seconds,
    [...byFlow, 'type'],
  )
  const lengths = histogram(
    'request_queue_length_after_enqueue',
    'The length of its queue with each request that came.',
    queueLengths,
    byFlow,
  )
  const estimates = histogram(
    'work_estimated_seats',
    'Seats that requests were estimated to need.',
    [1, 2, 4, 10],
    byFlow,
  )
  const watches = histogram(
    'watch_count_samples',
    'Watches that may see what a write changes.',
    [0, 1, 10, 100, 1000, 10_000],
    byFlow,
  )
  const requestUse = histogram(
    'priority_level_request_utilization',
    'Requests as a part of what a level takes.',
    requestParts,
    ['phase', ...byLevel],
  )
  const seatUse = histogram(
    'priority_level_seat_utilization',
    'Seats in use as a part of those of a level.',
    seatParts,
    [...byLevel, 'phase'],
  )
  const demand = histogram(
    'demand_seats',
    'Seats that a level could use as a part of those it has.',
    demandParts,
    byLevel,
  )
  const kinds = histogram('read_vs_write_current_requests', 'Requests as a part of what the server takes.', kindParts, [
    'phase',
    'request_kind',
  ])

  return {
    tally(level, schema) {
      const key = `${level}\0${schema}`
      let tally = tallies.get(key)
      if (!tally) {
        const flow = [level, schema]
        tally = new FlowTally(level, schema, {
          dispatched: () => dispatched(flow),
          rejected: (reason: Rejection) => refused([...flow, reason]),
          waited: (executed) => waited([...flow, String(executed)]),
          took: (kind) => took([...flow, kind]),
          unaccommodated: () => unaccommodated(flow),
          queueLength: () => lengths(flow),
          seats: () => estimates(flow),
          watches: () => watches(flow),
        })
        tallies.set(key, tally)
      }
      return tally
    },
    use(level, now) {
      const executing = new TimeRatio(requestUse(['executing', level]), now)
      const waiting = new TimeRatio(requestUse(['waiting', level]), now)
      const seats = new TimeRatio(seatUse([level, 'executing']), now)
      const wanted = new TimeRatio(demand([level]), now)
      let size = -1
      return {
        changed({ queues, fallbackSeats }, demandNow, at) {
          const whole = queues.seats > 0 ? queues.seats : fallbackSeats
          if (whole !== size) {
            size = whole
            for (const ratio of [executing, seats, wanted]) ratio.of(size, at)
            const { limits } = queues
            waiting.of(limits ? limits.queues * limits.queueLengthLimit : 1, at)
          }
          executing.set(queues.executing, at)
          waiting.set(queues.waiting, at)
          seats.set(queues.seatsInUse, at)
          wanted.set(demandNow, at)
        },
      }
    },
    kinds: (phase, kind, now) => new TimeRatio(kinds([phase, kind]), now),
  }
}
