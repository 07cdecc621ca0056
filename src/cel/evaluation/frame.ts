/** What one evaluation has: the values of variables, and what it has cost. */
import { type CelError, CostLimitExceeded, type Value } from '../values.ts'

export class Frame {
  readonly slots: (Value | CelError | undefined)[]
  cost = 0
  private readonly limit: number
  private turns = 0

  constructor(slots: (Value | CelError | undefined)[], limit: number) {
    this.slots = slots
    this.limit = limit
  }

  /** Throws CostLimitExceeded, which nothing absorbs. */
  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new CostLimitExceeded()
  }

  /** Called in every turn of a loop: turns that cost nothing may not go on for ever either. */
  turn(): void {
    if (++this.turns > this.limit * turnsPerCost) throw new CostLimitExceeded()
  }
}

const turnsPerCost = 4

/** A compiled expression. Throws CelError and CostLimitExceeded. */
export type Evaluate = (frame: Frame) => Value
