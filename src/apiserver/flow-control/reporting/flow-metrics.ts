/** The metrics `apiserver_flowcontrol_…`, under upstream's names. */
import type { HistogramSeries, MetricsRegistry, SeriesOf } from '../../../lib/metrics/registry.ts'
import { type FlowState, registerFlowGauges } from './flow-gauges.ts'
import { flowSeries } from './flow-series.ts'
import { FlowTally, type TallySeries } from './flow-tally.ts'
import { type LevelUse, levelUses } from './level-use.ts'
import { TimeRatio } from './time-ratio.ts'

const kindParts = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]

export type RequestKind = 'mutating' | 'readOnly'

export class FlowMetrics {
  /** Begins to report the use of a level; `now` in ms. */
  readonly use: (level: string, now: number) => LevelUse
  readonly #seriesOf: (level: string, schema: string) => TallySeries
  readonly #kinds: SeriesOf<HistogramSeries>
  readonly #tallies = new Map<string, FlowTally>()

  constructor(metrics: MetricsRegistry, state: FlowState) {
    registerFlowGauges(metrics, state, () => this.#tallies.values())
    this.#seriesOf = flowSeries(metrics)
    this.use = levelUses(metrics)
    this.#kinds = metrics.histogram(
      'apiserver_flowcontrol_read_vs_write_current_requests',
      'Requests as a part of what the server takes.',
      kindParts,
      ['phase', 'request_kind'],
    )
  }

  /** The metrics of the requests of a schema at a level. */
  tally(level: string, schema: string): FlowTally {
    const key = `${level}\0${schema}`
    let tally = this.#tallies.get(key)
    if (!tally) this.#tallies.set(key, (tally = new FlowTally(level, schema, this.#seriesOf(level, schema))))
    return tally
  }

  /** Requests of a kind that execute or wait, as a fraction of the server's limits; `now` in ms. */
  kind(phase: 'executing' | 'waiting', kind: RequestKind, now: number): TimeRatio {
    return new TimeRatio(this.#kinds([phase, kind]), now)
  }
}
