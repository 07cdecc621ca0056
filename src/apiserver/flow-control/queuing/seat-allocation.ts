/**
 * Divides seats among priority levels: each gets its target times one common factor, within its bounds, and all of them
 * together the total (KEP-1040, "Dispatching").
 */

export interface Claim {
  readonly target: number
  readonly least: number
  readonly most: number
}

export interface Allocation {
  readonly seats: readonly number[]
  /** The common factor. */
  readonly fairFraction: number
}

/** The bounds and demand of a limited level. */
export interface LevelDemand {
  /** Seats that it never lends. */
  readonly least: number
  /** Seats that it gets before any level borrows. */
  readonly wanted: number
  readonly most: number
  readonly target: number
}

/**
 * Divides the seats that exempt levels leave. If they are fewer than all levels want, each gets what it never lends,
 * and the same part of what it wants beyond that; no level borrows. Undefined if the bounds have no solution: nothing
 * changes then.
 */
export function divideSeats(total: number, wishes: readonly LevelDemand[]): Allocation | undefined {
  const least = wishes.reduce((all, wish) => all + wish.least, 0)
  const wanted = wishes.reduce((all, wish) => all + wish.wanted, 0)
  if (total > wanted)
    return allocateSeats(
      total,
      wishes.map((wish) => ({ least: wish.wanted, most: wish.most, target: wish.target })),
    )
  const part = total > least ? (total - least) / (wanted - least) : 0
  return { seats: wishes.map((wish) => wish.least + (wish.wanted - wish.least) * part), fairFraction: 0 }
}

/** Targets of zero would divide by zero. */
const minTarget = 0.001
const rounding = 1e-7

/**
 * Undefined if the bounds have no solution: the sum of all `least` exceeds `total`, or the sum of all `most` is below
 * it.
 */
export function allocateSeats(total: number, claims: readonly Claim[]): Allocation | undefined {
  const targets = claims.map(({ target }) => Math.max(target, minTarget))
  const at = (factor: number): number[] =>
    claims.map(({ least, most }, i) => Math.max(least, Math.min(most, factor * targets[i]!)))
  const sum = (seats: readonly number[]): number => seats.reduce((all, one) => all + one, 0)
  const factors = claims
    .flatMap(({ least, most }, i) => [least / targets[i]!, most / targets[i]!])
    .sort((a, b) => a - b)
  const lowest = factors[0] ?? 0
  const highest = factors.at(-1) ?? 0
  if (sum(at(lowest)) > total + rounding || sum(at(highest)) < total - rounding) return undefined
  // The sum grows with the factor, and bends at bounds only: it is linear between two of them.
  let low = lowest
  for (const high of factors) {
    const given = sum(at(high))
    if (given < total) {
      low = high
      continue
    }
    const before = sum(at(low))
    const factor = given === before ? high : low + ((high - low) * (total - before)) / (given - before)
    return { seats: at(factor), fairFraction: factor }
  }
  return { seats: at(highest), fairFraction: highest }
}
