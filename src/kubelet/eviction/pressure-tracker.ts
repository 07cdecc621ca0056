/** Tracks which thresholds are crossed, for how long, and the conditions of the node that follow. */
import type { Observations } from './observations.ts'
import { type PressureCondition, signals } from './signals.ts'
import { amountOf, sameThreshold, type Threshold } from './thresholds.ts'

export interface Pressure {
  readonly conditions: readonly PressureCondition[]
  /** The thresholds whose grace period is over: memory first. */
  readonly thresholds: readonly Threshold[]
}

/** The thresholds that are crossed; `withReclaim` adds the minimum that is reclaimed. */
export const crossedThresholds = (
  thresholds: readonly Threshold[],
  observations: Observations,
  withReclaim: boolean,
): Threshold[] =>
  thresholds.filter(({ signal, value, minReclaim }) => {
    const observed = observations.get(signal)
    if (!observed) return false
    const reclaim = withReclaim && minReclaim ? amountOf(minReclaim, observed.capacity) : 0
    return amountOf(value, observed.capacity) + reclaim > observed.available
  })

export class PressureTracker {
  readonly #transitionMs: number
  /** The thresholds that are crossed, and since when, in ms since 1970. */
  #crossed: readonly { readonly threshold: Threshold; readonly since: number }[] = []
  /** The thresholds that were crossed for their grace period, and whose minimum is not reclaimed yet. */
  #unresolved: readonly Threshold[] = []
  /** The time at which each condition was last observed, in ms since 1970. */
  readonly #observed = new Map<PressureCondition, number>()

  /** `transitionMs` is the time that a condition lasts at least (`evictionPressureTransitionPeriod`). */
  constructor(transitionMs: number) {
    this.#transitionMs = transitionMs
  }

  /** `now` in ms since 1970. */
  update(thresholds: readonly Threshold[], observations: Observations, now: number): Pressure {
    const crossed = crossedThresholds(thresholds, observations, false)
    const remaining = crossedThresholds(this.#unresolved, observations, true)
    const all = [...crossed, ...remaining.filter((one) => !crossed.some((other) => sameThreshold(one, other)))]
    this.#crossed = all.map((threshold) => ({
      threshold,
      since: this.#crossed.find((one) => sameThreshold(one.threshold, threshold))?.since ?? now,
    }))
    for (const { signal } of all) this.#observed.set(signals[signal].condition, now)
    const due = this.#crossed
      .filter(({ threshold, since }) => now - since >= threshold.graceMs)
      .map(({ threshold }) => threshold)
    this.#unresolved = due
    return {
      conditions: [...this.#observed].filter(([, at]) => now - at < this.#transitionMs).map(([condition]) => condition),
      thresholds: due.toSorted((a, b) => Number(isMemory(b)) - Number(isMemory(a))),
    }
  }
}

const isMemory = ({ signal }: Threshold): boolean => signals[signal].resource === 'memory'
