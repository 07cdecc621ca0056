/** The state of one evaluation: the values of variables, and the cost. */
import { type CelError, CostLimitExceeded, type Value } from '../values.ts'

export class Frame {
  readonly slots: (Value | CelError | undefined)[]
  cost = 0
  private readonly limit: number
  private iterations = 0

  constructor(slots: (Value | CelError | undefined)[], limit: number) {
    this.slots = slots
    this.limit = limit
  }

  /** Adds to the cost. Throws CostLimitExceeded, which no operator absorbs. */
  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new CostLimitExceeded()
  }

  /** Counts an iteration of a loop, because iterations without cost must be limited, too. */
  countIteration(): void {
    if (++this.iterations > this.limit * iterationsPerCost) throw new CostLimitExceeded()
  }
}

const iterationsPerCost = 4

/** A compiled expression. Throws CelError and CostLimitExceeded. */
export type Evaluate = (frame: Frame) => Value
