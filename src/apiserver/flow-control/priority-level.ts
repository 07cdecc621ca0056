/** A priority level: its seats, its bounds for lending and borrowing, its queues, and its demand. */
import type { PriorityLevelConfiguration } from '../../api/flowcontrol/bootstrap-objects.ts'
import { RetryAfter } from './pacing/retry-after.ts'
import type { Clock } from './queuing/clock.ts'
import { type Limitation, QueueSet } from './queuing/queue-set.ts'
import { SeatDemand } from './queuing/seat-demand.ts'

/** The fraction of a level's seats that one request may take. */
const maxRequestShare = 0.15

/** The common settings of both types of configurations. */
export interface Shares {
  readonly shares: number
  readonly lendablePercent: number
  /** Undefined: unlimited. */
  readonly borrowingLimitPercent: number | undefined
}

export function sharesOf({ spec }: PriorityLevelConfiguration): Shares {
  const { nominalConcurrencyShares, lendablePercent = 0 } = spec?.exempt ?? spec?.limited ?? {}
  return {
    shares: nominalConcurrencyShares ?? (spec?.exempt ? 0 : 30),
    lendablePercent,
    borrowingLimitPercent: spec?.limited?.borrowingLimitPercent,
  }
}

/** Undefined for an invalid configuration, which is ignored. */
export function limitationOf({ metadata, spec }: PriorityLevelConfiguration): Limitation | undefined {
  const { limited, exempt } = spec ?? {}
  if (spec?.type === 'Exempt') return metadata.name === 'exempt' && !limited ? 'exempt' : undefined
  if (!limited || exempt || metadata.name === 'exempt') return undefined
  const { type, queuing } = limited.limitResponse ?? {}
  if (type === 'Reject') return queuing ? undefined : 'reject'
  if (type !== 'Queue' || !queuing) return undefined
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = queuing
  return { queues, handSize, queueLengthLimit }
}

export interface LevelContext {
  readonly clock: Clock
  /** Called when the use of a level has changed; `demand` is the number of seats that it could use. */
  readonly useChanged: (level: PriorityLevel, demand: number, now: number) => void
}

/** Counts of the requests of a level since its creation. */
export interface Outcomes {
  dispatched: number
  /** Rejected requests, including time-outs and those whose client has disconnected. */
  rejected: number
  timedOut: number
  cancelled: number
}

export class PriorityLevel {
  readonly name: string
  readonly queues: QueueSet
  readonly #useChanged: LevelContext['useChanged']
  readonly demand: SeatDemand
  readonly retryAfter = new RetryAfter()
  readonly outcomes: Outcomes = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 }
  uid = ''
  exempt = false
  /** Deleted: it is removed when its waiting and executing requests are done. */
  quiescing = false
  configuration: PriorityLevelConfiguration
  nominal = 0
  least = 0
  most = 0
  /** The target of the last division of seats. */
  target = 0
  /** The base for the utilization of a level without seats. */
  fallbackSeats = 1
  /** The most seats that one request takes; 0 for no limit. */
  maxSeats = 0

  constructor(
    name: string,
    configuration: PriorityLevelConfiguration,
    limitation: Limitation,
    { clock, useChanged }: LevelContext,
  ) {
    this.name = name
    this.configuration = configuration
    this.demand = new SeatDemand(clock.now())
    this.queues = new QueueSet({ clock, limitation, seats: 0, demand: (seats, now) => this.#demandChanged(seats, now) })
    this.#useChanged = useChanged
    this.apply(configuration, limitation)
  }

  #demandChanged(seats: number, now: number): void {
    this.demand.set(seats, now)
    this.#useChanged(this, seats, now)
  }

  apply(configuration: PriorityLevelConfiguration, limitation: Limitation): void {
    this.configuration = configuration
    this.uid = configuration.metadata.uid ?? ''
    this.exempt = limitation === 'exempt'
    this.quiescing = false
    this.queues.configure(limitation, this.queues.seats)
  }

  /** Sets its share of `seats`; `shares` is the sum of the shares of all levels. */
  size(seats: number, shares: number): void {
    const own = sharesOf(this.configuration)
    this.nominal = shares > 0 ? Math.ceil((seats * own.shares) / shares) : 0
    this.least = this.nominal - Math.round((this.nominal * own.lendablePercent) / 100)
    this.most =
      this.nominal +
      (own.borrowingLimitPercent === undefined ? seats : Math.round((this.nominal * own.borrowingLimitPercent) / 100))
    this.fallbackSeats = Math.max(1, Math.round(seats / 10))
    const handSize = this.queues.limits?.handSize
    this.maxSeats = handSize
      ? Math.max(1, Math.min(Math.ceil(this.nominal * maxRequestShare), Math.floor(this.nominal / handSize)))
      : 0
  }

  setSeats(seats: number): void {
    this.queues.configure(this.queues.limitation, seats)
  }
}
