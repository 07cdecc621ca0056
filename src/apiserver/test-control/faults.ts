/** The faults that are in effect. A request gets the first one that matches, in the order in which they were added. */
import { notFound } from '../../machinery/status-error.ts'
import type { Request } from '../http/exchange.ts'
import { checkRule, type FaultRule } from './fault.ts'
import { isOfTestKit, matches } from './request-match.ts'

/** A fault and the number of its hits. */
export interface FaultState {
  readonly id: number
  readonly rule: FaultRule
  /** Number of requests that it has hit. */
  readonly hits: number
}

interface ActiveFault {
  readonly id: number
  readonly rule: FaultRule
  skipped: number
  hits: number
}

export class Faults {
  readonly #faults = new Map<number, ActiveFault>()
  #lastId = 0

  /** Throws 400 for an invalid rule. */
  add(rule: FaultRule): FaultState {
    checkRule(rule)
    const fault: ActiveFault = { id: ++this.#lastId, rule, skipped: 0, hits: 0 }
    this.#faults.set(fault.id, fault)
    return stateOf(fault)
  }

  /** All faults, also those that have hit as often as they should. */
  list(): readonly FaultState[] {
    return [...this.#faults.values()].map(stateOf)
  }

  /** Throws 404 for an unknown fault. */
  get(id: string): FaultState {
    const fault = this.#faults.get(Number(id))
    if (!fault) throw notFound({ group: '', name: 'faults' }, id)
    return stateOf(fault)
  }

  /** Removes a fault, or all. */
  remove(id?: string): void {
    if (id === undefined) this.#faults.clear()
    else this.#faults.delete(this.get(id).id)
  }

  /** True if the request may be hit, so that its name is worth reading. */
  mayHit(request: Request): boolean {
    return this.#faults.size > 0 && !isOfTestKit(request)
  }

  /** Returns the fault of a request for the object `name`, which counts as hit; undefined if there is none. */
  hit(request: Request, name: string): FaultState | undefined {
    for (const fault of this.#faults.values()) {
      const { times = 1, skip = 0 } = fault.rule
      if ((times > 0 && fault.hits >= times) || !matches(fault.rule, request, name)) continue
      if (fault.skipped < skip) {
        fault.skipped++
        continue
      }
      fault.hits++
      return stateOf(fault)
    }
    return undefined
  }
}

const stateOf = ({ id, rule, hits }: ActiveFault): FaultState => ({ id, rule, hits })
