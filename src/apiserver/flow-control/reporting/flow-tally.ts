/** What is counted of the requests of one schema at one level. */
import type { CounterSeries, HistogramSeries } from '../../../lib/metrics/registry.ts'
import type { Refusal } from '../queuing/queue-set.ts'

/** Where numbers go that are told as counters and histograms. */
export interface TallySeries {
  readonly dispatched: () => CounterSeries
  readonly refused: (reason: Refusal) => CounterSeries
  readonly waited: (executed: boolean) => HistogramSeries
  readonly took: (kind: 'regular' | 'watch') => HistogramSeries
  readonly unaccommodated: () => CounterSeries
  readonly queueLength: () => HistogramSeries
  readonly seats: () => HistogramSeries
  readonly watches: () => HistogramSeries
}

export class FlowTally {
  readonly level: string
  readonly schema: string
  readonly #series: TallySeries
  /** Series come into being with what they first count. */
  #dispatched: CounterSeries | undefined
  #waited: HistogramSeries | undefined
  #took: HistogramSeries | undefined
  #queueLengths: HistogramSeries | undefined
  #seats: HistogramSeries | undefined
  #watches: HistogramSeries | undefined
  executing = 0
  executingSeats = 0
  waiting = 0
  waitingSeats = 0

  constructor(level: string, schema: string, series: TallySeries) {
    this.level = level
    this.schema = schema
    this.#series = series
  }

  /** A request begins to execute. */
  begin(seats: number): void {
    ;(this.#dispatched ??= this.#series.dispatched()).add()
    this.executing++
    this.executingSeats += seats
  }

  /** A request has executed for so long. */
  end(seats: number, seconds: number, isWatch: boolean): void {
    this.executing--
    this.executingSeats -= seats
    if (isWatch) this.#series.took('watch').observe(seconds)
    else (this.#took ??= this.#series.took('regular')).observe(seconds)
  }

  estimated(seats: number): void {
    ;(this.#seats ??= this.#series.seats()).observe(seats)
  }

  enqueued(seats: number): void {
    this.waiting++
    this.waitingSeats += seats
  }

  /** A request stands in a queue with so many, itself among them, if only for a moment. */
  queued(queueLength: number): void {
    ;(this.#queueLengths ??= this.#series.queueLength()).observe(queueLength)
  }

  dequeued(seats: number): void {
    this.waiting--
    this.waitingSeats -= seats
  }

  waited(seconds: number, executed: boolean): void {
    if (executed) (this.#waited ??= this.#series.waited(true)).observe(seconds)
    else this.#series.waited(false).observe(seconds)
  }

  unaccommodated(): void {
    this.#series.unaccommodated().add()
  }

  refused(reason: Refusal): void {
    this.#series.refused(reason).add()
  }

  watched(count: number): void {
    ;(this.#watches ??= this.#series.watches()).observe(count)
  }
}
