/** The gauges of priority levels and flows, read on a scrape. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { PriorityLevel } from '../priority-level.ts'
import type { FlowTally } from './flow-tally.ts'

/** The state that gauges read. */
export interface FlowState {
  readonly levels: () => Iterable<PriorityLevel>
  readonly fairFraction: () => number
}

interface Gauge<Subject> {
  readonly name: string
  readonly help: string
  readonly read: (subject: Subject) => number
}

const prefix = 'apiserver_flowcontrol_'

const flowGauges: readonly Gauge<FlowTally>[] = [
  {
    name: 'current_executing_requests',
    help: 'Requests that execute; watches only while they begin.',
    read: ({ executing }) => executing,
  },
  {
    name: 'current_executing_seats',
    help: 'Seats of requests that execute.',
    read: ({ executingSeats }) => executingSeats,
  },
  { name: 'current_inqueue_requests', help: 'Requests that wait in queues.', read: ({ waiting }) => waiting },
  {
    name: 'current_inqueue_seats',
    help: 'Seats that the requests in queues wait for.',
    read: ({ waitingSeats }) => waitingSeats,
  },
  {
    name: 'request_concurrency_in_use',
    help: 'Seats of requests that execute.',
    read: ({ executingSeats }) => executingSeats,
  },
]

const levelGauges: readonly Gauge<PriorityLevel>[] = [
  { name: 'current_limit_seats', help: 'Seats of a level at the moment.', read: ({ queues }) => queues.seats },
  {
    name: 'nominal_limit_seats',
    help: 'Seats of a level that follow from its shares.',
    read: ({ nominal }) => nominal,
  },
  {
    name: 'request_concurrency_limit',
    help: 'Seats of a level that follow from its shares.',
    read: ({ nominal }) => nominal,
  },
  { name: 'lower_limit_seats', help: 'Seats that a level never lends.', read: ({ least }) => least },
  {
    name: 'upper_limit_seats',
    help: 'Seats that a level has at most, with what it borrows.',
    read: ({ most }) => most,
  },
  {
    name: 'demand_seats_high_watermark',
    help: 'The most seats that a level could have used in the last period.',
    read: ({ demand }) => demand.highWatermark,
  },
  {
    name: 'demand_seats_average',
    help: 'Seats that a level could have used in the last period, on average.',
    read: ({ demand }) => demand.average,
  },
  {
    name: 'demand_seats_stdev',
    help: 'Standard deviation of the seats that a level could have used in the last period.',
    read: ({ demand }) => demand.deviation,
  },
  {
    name: 'demand_seats_smoothed',
    help: 'Seats that a level could have used, smoothed over time.',
    read: ({ demand }) => demand.smoothed,
  },
  { name: 'target_seats', help: 'Target of the division of seats.', read: ({ target }) => target },
  {
    name: 'current_r',
    help: 'R, the seat-seconds of each queue, at the last change.',
    read: ({ queues }) => queues.currentR,
  },
  { name: 'dispatch_r', help: 'R at the last dispatch.', read: ({ queues }) => queues.dispatchR },
  {
    name: 'latest_s',
    help: 'S, the R at which it was due, of the request dispatched last.',
    read: ({ queues }) => queues.lastDispatchR,
  },
]

const boundsGauges = [
  {
    name: 'next_s_bounds',
    help: 'Least and greatest S of the oldest requests of queues.',
    discount: false,
  },
  {
    name: 'next_discounted_s_bounds',
    help: 'The same, less what is estimated to be under way.',
    discount: true,
  },
] as const

/** Registers the gauges. */
export function registerFlowGauges(
  metrics: MetricsRegistry,
  { levels, fairFraction }: FlowState,
  tallies: () => Iterable<FlowTally>,
): void {
  for (const { name, help, read } of flowGauges)
    metrics.gauge(prefix + name, help, ['priority_level', 'flow_schema'], () =>
      [...tallies()].map((tally) => [[tally.level, tally.schema], read(tally)] as const),
    )
  for (const { name, help, read } of levelGauges)
    metrics.gauge(prefix + name, help, ['priority_level'], () =>
      [...levels()].map((level) => [[level.name], read(level)] as const),
    )
  for (const { name, help, discount } of boundsGauges)
    metrics.gauge(prefix + name, help, ['priority_level', 'bound'], () =>
      [...levels()].flatMap((level) => {
        const [min, max] = level.queues.dueBounds(discount)
        return [[[level.name, 'min'], min] as const, [[level.name, 'max'], max] as const]
      }),
    )
  metrics.gauge(`${prefix}seat_fair_frac`, 'The factor by which targets became seats.', [], () => [
    [[], fairFraction()],
  ])
}
