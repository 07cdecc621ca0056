/** Counts and durations of plug-in calls by plug-in, extension point and result, under upstream's names. */
import { exponentialBuckets } from '../../lib/metrics/buckets.ts'
import type { CounterSeries, HistogramSeries, MetricsRegistry, SeriesOf } from '../../lib/metrics/registry.ts'
import type { Code, Status } from '../framework/status.ts'

/** The result of a plug-in call. */
export type Outcome = Code | 'Success'

export const outcomeOf = (status: Status | undefined): Outcome => status?.code ?? 'Success'

export type MeteredPoint =
  | 'PreEnqueue'
  | 'PreFilter'
  | 'Filter'
  | 'PostFilter'
  | 'PreScore'
  | 'Score'
  | 'ScoreExtensionNormalize'
  | 'Reserve'
  | 'Unreserve'
  | 'Permit'
  | 'PreBind'
  | 'Bind'
  | 'PostBind'

/** The extension points whose calls are counted. */
export type CountedPoint = 'PreFilter' | 'Filter' | 'PreScore' | 'Score'

/** One in so many attempts is timed, as upstream does: timing costs more than some plug-ins take. */
const attemptsPerSample = 10

export class PluginMetrics {
  readonly #points: SeriesOf<HistogramSeries>
  readonly #runs: SeriesOf<HistogramSeries>
  readonly #evaluations: SeriesOf<CounterSeries>

  constructor(registry: MetricsRegistry) {
    this.#points = registry.histogram(
      'scheduler_framework_extension_point_duration_seconds',
      'Latency for running all plugins of a specific extension point.',
      exponentialBuckets(0.0001, 2, 12),
      ['extension_point', 'status', 'profile'],
    )
    this.#runs = registry.histogram(
      'scheduler_plugin_execution_duration_seconds',
      'Duration for running a plugin at a specific extension point.',
      exponentialBuckets(0.00001, 1.5, 20),
      ['plugin', 'extension_point', 'status'],
    )
    this.#evaluations = registry.counter(
      'scheduler_plugin_evaluation_total',
      'Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, ' +
        'Filter, PreScore, and Score).',
      ['plugin', 'extension_point', 'profile'],
    )
  }

  of(profile: string): ProfileMeter {
    return new ProfileMeter({
      point: (point, outcome) => this.#points([point, outcome, profile]),
      run: (plugin, point, outcome) => this.#runs([plugin, point, outcome]),
      evaluations: (plugin, point) => this.#evaluations([plugin, point, profile]),
    })
  }
}

interface ProfileSeries {
  readonly point: (point: MeteredPoint, outcome: Outcome) => HistogramSeries
  readonly run: (plugin: string, point: MeteredPoint, outcome: Outcome) => HistogramSeries
  readonly evaluations: (plugin: string, point: CountedPoint) => CounterSeries
}

/** The metrics of one profile's plug-ins. Times are those of `performance.now()`. */
export class ProfileMeter {
  readonly #series: ProfileSeries
  /** Series by point and outcome, and by plug-in before that. Cached because they are needed for every node. */
  readonly #points = new Map<MeteredPoint, Map<Outcome, HistogramSeries>>()
  readonly #runs = new Map<string, Map<MeteredPoint, Map<Outcome, HistogramSeries>>>()
  #attempts = 0

  constructor(series: ProfileSeries) {
    this.#series = series
  }

  /** Returns true if the attempt that begins now is to be timed. */
  isTimedAttempt(): boolean {
    return this.#attempts++ % attemptsPerSample === 0
  }

  evaluations(plugin: string, point: CountedPoint): CounterSeries {
    return this.#series.evaluations(plugin, point)
  }

  /** Observes the duration of all plug-ins at a point since `began`. */
  observePoint(point: MeteredPoint, outcome: Outcome, began: number): void {
    seriesOf(innerMapOf(this.#points, point), outcome, () => this.#series.point(point, outcome)).observe(
      (performance.now() - began) / 1000,
    )
  }

  /** Observes the duration of one plug-in since `began`. */
  observePlugin(plugin: string, point: MeteredPoint, outcome: Outcome, began: number): void {
    const found = innerMapOf(innerMapOf(this.#runs, plugin), point)
    seriesOf(found, outcome, () => this.#series.run(plugin, point, outcome)).observe((performance.now() - began) / 1000)
  }
}

/** The inner map of a key, created if missing. */
function innerMapOf<K, L, V>(of: Map<K, Map<L, V>>, key: K): Map<L, V> {
  let found = of.get(key)
  if (!found) of.set(key, (found = new Map()))
  return found
}

function seriesOf(of: Map<Outcome, HistogramSeries>, outcome: Outcome, find: () => HistogramSeries): HistogramSeries {
  let found = of.get(outcome)
  if (!found) of.set(outcome, (found = find()))
  return found
}
