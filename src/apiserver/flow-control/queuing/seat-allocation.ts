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
  readonly minCurrent: number
  readonly most: number
  readonly target: number
}

/**
 * Divides the seats that exempt levels leave. If they are fewer than all levels want, each gets what it never lends,
 * and the same part of what it wants beyond that; no level borrows. Undefined if the bounds have no solution: nothing
 * changes then.
 */
export function divideSeats(total: number, demands: readonly LevelDemand[]): Allocation | undefined {
  const least = demands.reduce((all, demand) => all + demand.least, 0)
  const minCurrent = demands.reduce((all, demand) => all + demand.minCurrent, 0)
  if (total > minCurrent)
    return allocateSeats(
      total,
      demands.map((demand) => ({ least: demand.minCurrent, most: demand.most, target: demand.target })),
    )
  const fraction = total > least ? (total - least) / (minCurrent - least) : 0
  return {
    seats: demands.map((demand) => demand.least + (demand.minCurrent - demand.least) * fraction),
    fairFraction: 0,
  }
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
  const seatsAt = (factor: number): number[] =>
    claims.map(({ least, most }, i) => Math.max(least, Math.min(most, factor * targets[i]!)))
  const sum = (seats: readonly number[]): number => seats.reduce((all, one) => all + one, 0)
  const factors = claims
    .flatMap(({ least, most }, i) => [least / targets[i]!, most / targets[i]!])
    .sort((a, b) => a - b)
  const lowest = factors[0] ?? 0
  const highest = factors.at(-1) ?? 0
  if (sum(seatsAt(lowest)) > total + rounding || sum(seatsAt(highest)) < total - rounding) return undefined
  // The sum grows with the factor, and bends at bounds only: it is linear between two of them.
  let low = lowest
  for (const high of factors) {
    const highSum = sum(seatsAt(high))
    if (highSum < total) {
      low = high
      continue
    }
    const lowSum = sum(seatsAt(low))
    const factor = highSum === lowSum ? high : low + ((high - low) * (total - lowSum)) / (highSum - lowSum)
    return { seats: seatsAt(factor), fairFraction: factor }
  }
  return { seats: seatsAt(highest), fairFraction: highest }
}
