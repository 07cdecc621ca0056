/**
 * The configuration that requests are classified by: all schemas in their order and all levels with their seats, made
 * anew when one changes. What executes or waits at a level stays there. Every ten seconds seats move to the levels that
 * need them.
 */
import {
  type FlowSchema,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  type PriorityLevelConfiguration,
} from '../../api/flowcontrol/bootstrap-objects.ts'
import type { FlowUids } from '../http/exchange.ts'
import { type Classified, CompiledSchema, inOrder } from './compiled-schema.ts'
import { type LevelContext, limitationOf, PriorityLevel, sharesOf } from './priority-level.ts'
import { divideSeats } from './queuing/seat-allocation.ts'
import { dealHand, flowHash } from './queuing/shuffle-sharding.ts'
import type { FlowTally } from './reporting/flow-tally.ts'

/** Hands that are remembered of a schema's flows. */
const mostHands = 4096

/** A schema at its level. */
export class Flows {
  readonly schema: CompiledSchema
  readonly level: PriorityLevel
  readonly tally: FlowTally
  /** Told in every answer: UIDs, so that names are not given away. */
  readonly uids: FlowUids
  readonly #hands = new Map<string, readonly number[]>()

  constructor(schema: CompiledSchema, level: PriorityLevel, tally: FlowTally) {
    this.schema = schema
    this.level = level
    this.tally = tally
    this.uids = { schema: schema.uid, level: level.uid }
  }

  /** The queues that a flow may use. */
  hand(distinguisher: string, queues: number, handSize: number): readonly number[] {
    let hand = this.#hands.get(distinguisher)
    if (hand) return hand
    if (this.#hands.size >= mostHands) this.#hands.clear()
    this.#hands.set(distinguisher, (hand = dealHand(flowHash(this.schema.name, distinguisher), queues, handSize)))
    return hand
  }
}

export interface LevelsOptions extends LevelContext {
  /** Seats of the whole server. */
  readonly seats: number
  readonly tally: (level: string, schema: string) => FlowTally
  /** Told how many requests may execute, and how many wait, at all levels together. */
  readonly sized?: (executing: number, waiting: number) => void
}

export class Levels {
  readonly #context: LevelContext
  readonly #seats: number
  readonly #tally: LevelsOptions['tally']
  readonly #sized: LevelsOptions['sized']
  #levels = new Map<string, PriorityLevel>()
  #flows: readonly Flows[] = []
  /** Of these schemas, in their order. */
  #ofUser = new WeakMap<object, readonly Flows[]>()
  #catchAll: Flows | undefined
  #nominalSum = 0
  /** The factor that seats were divided by, the last time. */
  fairFraction = 0

  constructor({ seats, tally, sized, ...context }: LevelsOptions) {
    this.#context = context
    this.#seats = seats
    this.#tally = tally
    this.#sized = sized
    this.configure([], [])
  }

  get all(): Iterable<PriorityLevel> {
    return this.#levels.values()
  }

  has(level: string): boolean {
    const found = this.#levels.get(level)
    return found !== undefined && !found.quiescing
  }

  /** Where a request belongs. */
  find(request: Classified): Flows {
    const { user } = request
    for (const flows of user ? this.#concerning(user) : this.#flows) if (flows.schema.matches(request)) return flows
    return this.#catchAll!
  }

  /**
   * Most schemas do not speak of a user whatever they ask for: those that do are remembered for as long as the user is.
   */
  #concerning(user: NonNullable<Classified['user']>): readonly Flows[] {
    let concerning = this.#ofUser.get(user)
    if (!concerning) this.#ofUser.set(user, (concerning = this.#flows.filter(({ schema }) => schema.concerns(user))))
    return concerning
  }

  /**
   * Takes all objects as they are now. Schemas whose level is missing are left out; what is mandatory is there always.
   */
  configure(schemas: Iterable<FlowSchema>, configurations: Iterable<PriorityLevelConfiguration>): void {
    const before = this.#levels
    const levels = new Map<string, PriorityLevel>()
    const given = [...configurations]
    for (const mandatory of mandatoryPriorityLevels) {
      if (!given.some(({ metadata }) => metadata.name === mandatory.metadata.name)) given.push(mandatory)
    }
    for (const configuration of given) {
      const name = configuration.metadata.name!
      const limitation = limitationOf(configuration)
      if (limitation === undefined) continue
      const level = before.get(name) ?? new PriorityLevel(name, configuration, limitation, this.#context)
      level.take(configuration, limitation)
      levels.set(name, level)
    }
    for (const [name, level] of before) {
      if (levels.has(name) || level.queues.idle) continue
      level.quiescing = true
      levels.set(name, level)
    }
    this.#levels = levels
    this.#size(before)
    this.#compile(schemas)
  }

  #size(before: ReadonlyMap<string, PriorityLevel>): void {
    let shares = 0
    for (const { configuration } of this.#levels.values()) shares += sharesOf(configuration).shares
    this.#nominalSum = 0
    let places = 0
    for (const [name, level] of this.#levels) {
      level.size(this.#seats, shares)
      this.#nominalSum += level.nominal
      const { queues = 0, queueLengthLimit = 0 } = level.queues.limits ?? {}
      places += queues * queueLengthLimit
      if (!before.has(name)) level.setSeats(level.nominal - Math.floor((level.nominal - level.least) / 2))
    }
    this.#sized?.(this.#nominalSum, places)
    this.borrow()
  }

  #compile(given: Iterable<FlowSchema>): void {
    const schemas = [...given].map((schema) => new CompiledSchema(schema)).filter(({ level }) => this.has(level))
    for (const mandatory of mandatoryFlowSchemas) {
      if (!schemas.some(({ name }) => name === mandatory.metadata.name)) schemas.push(new CompiledSchema(mandatory))
    }
    this.#ofUser = new WeakMap()
    this.#flows = inOrder(schemas).map((schema) => {
      const level = this.#levels.get(schema.level)!
      return new Flows(schema, level, this.#tally(level.name, schema.name))
    })
    this.#catchAll = this.#flows.find(({ schema }) => schema.name === 'catch-all')
  }

  /** Divides the seats anew, by what was asked of each level in the period that is over. */
  borrow(): void {
    const now = this.#context.clock.now()
    const limited: PriorityLevel[] = []
    let remaining = this.#nominalSum
    for (const level of this.#levels.values()) {
      level.demand.endPeriod(now)
      if (level.exempt) {
        // What is exempt takes what it wants: the others divide the rest.
        level.target = Math.max(level.least, level.demand.highWatermark)
        level.setSeats(Math.round(level.target))
        remaining -= level.queues.seats
      } else limited.push(level)
    }
    const wishes = limited.map(({ least, nominal, most, demand }) => {
      const wanted = Math.max(least, Math.min(nominal, demand.highWatermark))
      return { least, wanted, most, target: Math.max(wanted, demand.smoothed) }
    })
    const division = divideSeats(remaining, wishes)
    limited.forEach((level, i) => {
      level.target = wishes[i]!.target
      if (division) level.setSeats(Math.round(division.seats[i]!))
    })
    if (division) this.fairFraction = division.fairFraction
  }

  /** Levels that nobody wants any more go when they are idle. */
  reap(): void {
    for (const [name, level] of this.#levels) {
      if (!level.quiescing || !level.queues.idle) continue
      level.queues.stop()
      this.#levels.delete(name)
    }
  }

  stop(): void {
    for (const { queues } of this.#levels.values()) queues.stop()
  }
}
