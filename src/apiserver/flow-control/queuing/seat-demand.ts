/**
 * The number of seats that a priority level could use, over time: the basis of borrowing between levels (KEP-1040,
 * "Seat Demand").
 */

/** With a period of ten seconds, past values have half their weight after five minutes. */
const smoothing = 0.977

export class SeatDemand {
  #value = 0
  #since: number
  #from: number
  #sum = 0
  #squares = 0
  #max = 0
  /** Of the last period. */
  average = 0
  deviation = 0
  highWatermark = 0
  /** Falls slowly, rises immediately. */
  smoothed = 0

  constructor(now: number) {
    this.#since = now
    this.#from = now
  }

  /** The demand from now on, in seats; `now` in ms. */
  set(value: number, now: number): void {
    const elapsed = now - this.#since
    if (elapsed > 0) {
      this.#sum += elapsed * this.#value
      this.#squares += elapsed * this.#value * this.#value
      this.#since = now
    }
    this.#value = value
    if (value > this.#max) this.#max = value
  }

  /** Ends a period: sets its average, deviation and maximum, and begins the next one. */
  endPeriod(now: number): void {
    this.set(this.#value, now)
    const duration = now - this.#from
    this.highWatermark = this.#max
    if (duration > 0) {
      this.average = this.#sum / duration
      this.deviation = Math.sqrt(Math.max(0, this.#squares / duration - this.average ** 2))
      const envelope = this.average + this.deviation
      this.smoothed = Math.max(envelope, smoothing * this.smoothed + (1 - smoothing) * envelope)
    }
    this.#from = now
    this.#sum = 0
    this.#squares = 0
    this.#max = this.#value
  }
}
