/** A number that changes, as a part of another: for how long it was how large. */
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

  /** One observation a nanosecond, as upstream counts them; `now` in ms. */
  set(value: number, now: number): void {
    const elapsed = now - this.#since
    if (elapsed > 0) {
      this.#series.observe(this.#value / this.#whole, Math.round(elapsed * nanosecondsPerMs))
      this.#since = now
    }
    this.#value = value
  }

  /** What it is a part of from now on. */
  of(whole: number, now: number): void {
    this.set(this.#value, now)
    this.#whole = Math.max(1, whole)
  }
}
