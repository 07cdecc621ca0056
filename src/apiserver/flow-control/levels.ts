/**
 * The configuration that classifies requests: all schemas in order and all levels with their seats, rebuilt on each
 * change. Requests that execute or wait at a level stay there. Every ten seconds seats move to the levels that need
 * them.
 */
import {
  type FlowSchema,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  type PriorityLevelConfiguration,
} from '../../api/flowcontrol/bootstrap-objects.ts'
import { type Classified, CompiledSchema, sortByPrecedence } from './compiled-schema.ts'
import { type LevelContext, limitationOf, PriorityLevel, sharesOf } from './priority-level.ts'
import { divideSeats } from './queuing/seat-allocation.ts'
import { dealHand, flowHash } from './queuing/shuffle-sharding.ts'
import type { FlowTally } from './reporting/flow-tally.ts'

/** The number of hands that are cached per schema. */
const maxHands = 4096

/** The UIDs of a FlowSchema and its priority level. */
export interface FlowUids {
  readonly schema: string
  readonly level: string
}

/** A schema with its level. */
export class Flows {
  readonly schema: CompiledSchema
  readonly level: PriorityLevel
  readonly tally: FlowTally
  /** Sent with every response: UIDs, so that names are not disclosed. */
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
    if (this.#hands.size >= maxHands) this.#hands.clear()
    this.#hands.set(distinguisher, (hand = dealHand(flowHash(this.schema.name, distinguisher), queues, handSize)))
    return hand
  }
}

export interface LevelsOptions extends LevelContext {
  /** Seats of the whole server. */
  readonly seats: number
  readonly tally: (level: string, schema: string) => FlowTally
  /** Called with the number of requests that may execute, and that may wait, at all levels together. */
  readonly limitsChanged?: (executing: number, waiting: number) => void
}

export class Levels {
  readonly #context: LevelContext
  readonly #seats: number
  readonly #tally: LevelsOptions['tally']
  readonly #limitsChanged: LevelsOptions['limitsChanged']
  #levels = new Map<string, PriorityLevel>()
  #flows: readonly Flows[] = []
  /** The schemas that may apply to a user, in order. */
  #ofUser = new WeakMap<object, readonly Flows[]>()
  #catchAll: Flows | undefined
  #nominalSum = 0
  /** The factor of the last division of seats. */
  fairFraction = 0

  constructor({ seats, tally, limitsChanged, ...context }: LevelsOptions) {
    this.#context = context
    this.#seats = seats
    this.#tally = tally
    this.#limitsChanged = limitsChanged
    this.configure([], [])
  }

  get all(): Iterable<PriorityLevel> {
    return this.#levels.values()
  }

  has(level: string): boolean {
    const found = this.#levels.get(level)
    return found !== undefined && !found.quiescing
  }

  /** Returns the schema and level of a request. */
  find(request: Classified): Flows {
    const { user } = request
    for (const flows of user ? this.#schemasFor(user) : this.#flows) if (flows.schema.matches(request)) return flows
    return this.#catchAll!
  }

  /**
   * The schemas with a rule for a user, whatever the request. Most have none, so the result is cached as long as the
   * user object.
   */
  #schemasFor(user: NonNullable<Classified['user']>): readonly Flows[] {
    let schemas = this.#ofUser.get(user)
    if (!schemas) this.#ofUser.set(user, (schemas = this.#flows.filter(({ schema }) => schema.mayApplyTo(user))))
    return schemas
  }

  /** Applies all current objects. Schemas whose level is missing are ignored; mandatory objects are always present. */
  configure(schemas: Iterable<FlowSchema>, configurations: Iterable<PriorityLevelConfiguration>): void {
    const oldLevels = this.#levels
    const levels = new Map<string, PriorityLevel>()
    const all = [...configurations]
    for (const mandatory of mandatoryPriorityLevels) {
      if (!all.some(({ metadata }) => metadata.name === mandatory.metadata.name)) all.push(mandatory)
    }
    for (const configuration of all) {
      const name = configuration.metadata.name!
      const limitation = limitationOf(configuration)
      if (limitation === undefined) continue
      const level = oldLevels.get(name) ?? new PriorityLevel(name, configuration, limitation, this.#context)
      level.apply(configuration, limitation)
      levels.set(name, level)
    }
    for (const [name, level] of oldLevels) {
      if (levels.has(name) || level.queues.idle) continue
      level.quiescing = true
      levels.set(name, level)
    }
    this.#levels = levels
    this.#size(oldLevels)
    this.#compile(schemas)
  }

  #size(oldLevels: ReadonlyMap<string, PriorityLevel>): void {
    let shares = 0
    for (const { configuration } of this.#levels.values()) shares += sharesOf(configuration).shares
    this.#nominalSum = 0
    let queueCapacity = 0
    for (const [name, level] of this.#levels) {
      level.size(this.#seats, shares)
      this.#nominalSum += level.nominal
      const { queues = 0, queueLengthLimit = 0 } = level.queues.limits ?? {}
      queueCapacity += queues * queueLengthLimit
      if (!oldLevels.has(name)) level.setSeats(level.nominal - Math.floor((level.nominal - level.least) / 2))
    }
    this.#limitsChanged?.(this.#nominalSum, queueCapacity)
    this.borrow()
  }

  #compile(objects: Iterable<FlowSchema>): void {
    const schemas = [...objects].map((schema) => new CompiledSchema(schema)).filter(({ level }) => this.has(level))
    for (const mandatory of mandatoryFlowSchemas) {
      if (!schemas.some(({ name }) => name === mandatory.metadata.name)) schemas.push(new CompiledSchema(mandatory))
    }
    this.#ofUser = new WeakMap()
    this.#flows = sortByPrecedence(schemas).map((schema) => {
      const level = this.#levels.get(schema.level)!
      return new Flows(schema, level, this.#tally(level.name, schema.name))
    })
    this.#catchAll = this.#flows.find(({ schema }) => schema.name === 'catch-all')
  }

  /** Divides the seats again, by the demand of each level in the period that has ended. */
  borrow(): void {
    const now = this.#context.clock.now()
    const limited: PriorityLevel[] = []
    let remaining = this.#nominalSum
    for (const level of this.#levels.values()) {
      level.demand.endPeriod(now)
      if (level.exempt) {
        // An exempt level takes as many seats as it needs: the others divide the rest.
        level.target = Math.max(level.least, level.demand.highWatermark)
        level.setSeats(Math.round(level.target))
        remaining -= level.queues.seats
      } else limited.push(level)
    }
    const demands = limited.map(({ least, nominal, most, demand }) => {
      const minCurrent = Math.max(least, Math.min(nominal, demand.highWatermark))
      return { least, minCurrent, most, target: Math.max(minCurrent, demand.smoothed) }
    })
    const division = divideSeats(remaining, demands)
    limited.forEach((level, i) => {
      level.target = demands[i]!.target
      if (division) level.setSeats(Math.round(division.seats[i]!))
    })
    if (division) this.fairFraction = division.fairFraction
  }

  /** Removes deleted levels that are idle. */
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
