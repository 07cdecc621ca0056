/** Metrics of the requests of one schema at one level. */
import type { CounterSeries, HistogramSeries } from '../../../lib/metrics/registry.ts'
import type { Rejection } from '../queuing/queue-set.ts'

/** The series of the metrics. */
export interface TallySeries {
  readonly dispatched: () => CounterSeries
  readonly rejected: (reason: Rejection) => CounterSeries
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
  /** Series are created by their first observation. */
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

  /** Counts a request that begins to execute. */
  begin(seats: number): void {
    ;(this.#dispatched ??= this.#series.dispatched()).add()
    this.executing++
    this.executingSeats += seats
  }

  /** Counts a request that has executed for `seconds`. */
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

  /** Observes the length of the queue that a request has entered, including itself, if only for a moment. */
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

  rejected(reason: Rejection): void {
    this.#series.rejected(reason).add()
  }

  watched(count: number): void {
    ;(this.#watches ??= this.#series.watches()).observe(count)
  }
}
