/**
 * A priority level as it serves: its seats, its bounds for lending and borrowing, its queues, and what was asked of it.
 */
import type { PriorityLevelConfiguration } from '../../api/flowcontrol/bootstrap-objects.ts'
import { RetryAfter } from './pacing/retry-after.ts'
import type { Clock } from './queuing/clock.ts'
import { type Limitation, QueueSet } from './queuing/queue-set.ts'
import { SeatDemand } from './queuing/seat-demand.ts'

/** A part of all seats that one request may take, of its level's. */
const widestShare = 0.15

/** What configurations of both types have in common. */
export interface Shares {
  readonly shares: number
  readonly lendablePercent: number
  /** Undefined: as much as there is. */
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

/** Undefined for a configuration that makes no sense, which is as if it were not there. */
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
  /** Told when something has changed in how much of a level is used; `demand` is the seats that it could use. */
  readonly used: (level: PriorityLevel, demand: number, now: number) => void
}

/** What became of the requests of a level, since it is there. */
export interface Outcomes {
  dispatched: number
  /**
   * Those that were told to come again; those that have waited in vain and those whose client has left are among them.
   */
  rejected: number
  timedOut: number
  cancelled: number
}

export class PriorityLevel {
  readonly name: string
  readonly queues: QueueSet
  readonly #used: LevelContext['used']
  readonly demand: SeatDemand
  readonly retryAfter = new RetryAfter()
  readonly outcomes: Outcomes = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 }
  uid = ''
  exempt = false
  /** Nobody wants it any more: it goes when those that wait or execute are done. */
  quiescing = false
  configuration: PriorityLevelConfiguration
  nominal = 0
  least = 0
  most = 0
  /** What seats were divided by, the last time. */
  target = 0
  /** What seats in use are told as a part of, where the level has none. */
  fewSeats = 1
  /** The most seats that one request takes; 0 for no bound of its own. */
  maxSeats = 0

  constructor(
    name: string,
    configuration: PriorityLevelConfiguration,
    limitation: Limitation,
    { clock, used }: LevelContext,
  ) {
    this.name = name
    this.configuration = configuration
    this.demand = new SeatDemand(clock.now())
    this.queues = new QueueSet({ clock, limitation, seats: 0, demand: (seats, now) => this.#wanted(seats, now) })
    this.#used = used
    this.take(configuration, limitation)
  }

  #wanted(seats: number, now: number): void {
    this.demand.set(seats, now)
    this.#used(this, seats, now)
  }

  take(configuration: PriorityLevelConfiguration, limitation: Limitation): void {
    this.configuration = configuration
    this.uid = configuration.metadata.uid ?? ''
    this.exempt = limitation === 'exempt'
    this.quiescing = false
    this.queues.configure(limitation, this.queues.seats)
  }

  /** Its part of `seats` in all, where `shares` are those of all levels together. */
  size(seats: number, shares: number): void {
    const own = sharesOf(this.configuration)
    this.nominal = shares > 0 ? Math.ceil((seats * own.shares) / shares) : 0
    this.least = this.nominal - Math.round((this.nominal * own.lendablePercent) / 100)
    this.most =
      this.nominal +
      (own.borrowingLimitPercent === undefined ? seats : Math.round((this.nominal * own.borrowingLimitPercent) / 100))
    this.fewSeats = Math.max(1, Math.round(seats / 10))
    const handSize = this.queues.limits?.handSize
    this.maxSeats = handSize
      ? Math.max(1, Math.min(Math.ceil(this.nominal * widestShare), Math.floor(this.nominal / handSize)))
      : 0
  }

  setSeats(seats: number): void {
    this.queues.configure(this.queues.limitation, seats)
  }
}
