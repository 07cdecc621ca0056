/** A changing number as a fraction of another, weighted by time. */
import type { HistogramSeries } from '../../../lib/metrics/registry.ts'

const nanosecondsPerMs = 1e6

export class TimeRatio {
  readonly #series: HistogramSeries
  #value = 0
  #whole = 1
  #since: number

  constructor(series: HistogramSeries, now: number) {
    this.#series = series
    this.#since = now
  }

  /** Sets the value; observes the previous one once per nanosecond, as upstream does. `now` in ms. */
  set(value: number, now: number): void {
    const elapsed = now - this.#since
    if (elapsed > 0) {
      this.#series.observe(this.#value / this.#whole, Math.round(elapsed * nanosecondsPerMs))
      this.#since = now
    }
    this.#value = value
  }

  /** Sets the denominator. */
  of(whole: number, now: number): void {
    this.set(this.#value, now)
    this.#whole = Math.max(1, whole)
  }
}
