/** Metrics in Prometheus' text format: counters, gauges and histograms with labels, cheap enough for every request. */

type Labels = readonly string[]

const escapeValue = (value: string): string => value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))
const labelText = (names: Labels, values: Labels, extra = ''): string => {
  const pairs = names.map((name, i) => `${name}="${escapeValue(values[i] ?? '')}"`)
  if (extra) pairs.push(extra)
  return pairs.length ? `{${pairs.join(',')}}` : ''
}

interface Metric {
  render(): string
}

/** What a metric counts under some label values. */
export interface CounterSeries {
  add(by?: number): void
}

export interface HistogramSeries {
  /** `times`: as if it were observed so often. */
  observe(value: number, times?: number): void
}

/** Gives the series of label values (in the order of the names); makes it when first asked for. */
export type SeriesOf<Series> = (values: Labels) => Series

class CountedSeries implements CounterSeries {
  readonly values: Labels
  total = 0

  constructor(values: Labels) {
    this.values = values
  }

  add(by = 1): void {
    this.total += by
  }
}

/** Counts values by buckets: a histogram without labels, for whoever counts beside a registry. */
export class Distribution implements HistogramSeries {
  readonly counts: number[]
  readonly #bounds: readonly number[]
  sum = 0
  count = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = bounds.map(() => 0)
  }

  observe(value: number, times = 1): void {
    this.sum += value * times
    this.count += times
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++
    if (bucket < bounds.length) this.counts[bucket]! += times
  }
}

class BucketedSeries extends Distribution {
  readonly values: Labels

  constructor(values: Labels, bounds: readonly number[]) {
    super(bounds)
    this.values = values
  }
}

const found =
  <Series>(known: Map<string, Series>, make: (values: Labels) => Series): SeriesOf<Series> =>
  (values) => {
    const key = values.join('\0')
    let series = known.get(key)
    if (!series) known.set(key, (series = make(values)))
    return series
  }

/**
 * The metrics of a process or a part of it.
 * @example
 * const registry = new MetricsRegistry()
 * registry.counter('boats_total', 'Number of boats.', ['color'])(['red']).add()
 * console.log(registry.render())
 */
export class MetricsRegistry {
  readonly #metrics: Metric[] = []

  counter(name: string, help: string, labels: Labels = []): SeriesOf<CounterSeries> {
    const series = new Map<string, CountedSeries>()
    this.#metrics.push({
      render: () =>
        this.#text(
          name,
          help,
          'counter',
          [...series.values()].map(({ values, total }) => `${name}${labelText(labels, values)} ${total}`),
        ),
    })
    return found(series, (values) => new CountedSeries(values))
  }

  /** A gauge is read when it is asked for. */
  gauge(name: string, help: string, labels: Labels, read: () => Iterable<readonly [Labels, number]>): void {
    this.#whenAsked('gauge', name, help, labels, read)
  }

  /** A counter whose numbers are kept elsewhere, such as where old ones are forgotten. */
  keptCounter(name: string, help: string, labels: Labels, read: () => Iterable<readonly [Labels, number]>): void {
    this.#whenAsked('counter', name, help, labels, read)
  }

  #whenAsked(
    type: 'gauge' | 'counter',
    name: string,
    help: string,
    labels: Labels,
    read: () => Iterable<readonly [Labels, number]>,
  ): void {
    this.#metrics.push({
      render: () =>
        this.#text(
          name,
          help,
          type,
          [...read()].map(([values, value]) => `${name}${labelText(labels, values)} ${value}`),
        ),
    })
  }

  histogram(name: string, help: string, buckets: readonly number[], labels: Labels = []): SeriesOf<HistogramSeries> {
    const series = new Map<string, BucketedSeries>()
    this.keptHistogram(name, help, buckets, labels, () => [...series.values()].map((one) => [one.values, one] as const))
    return found(series, (values) => new BucketedSeries(values, buckets))
  }

  /** A histogram whose numbers are counted elsewhere, with the same buckets. */
  keptHistogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labels: Labels,
    read: () => Iterable<readonly [Labels, Distribution]>,
  ): void {
    const render = (): string => {
      const lines: string[] = []
      for (const [values, { counts, sum, count }] of read()) {
        let total = 0
        for (const [i, bound] of buckets.entries()) {
          total += counts[i]!
          lines.push(`${name}_bucket${labelText(labels, values, `le="${bound}"`)} ${total}`)
        }
        lines.push(
          `${name}_bucket${labelText(labels, values, 'le="+Inf"')} ${count}`,
          `${name}_sum${labelText(labels, values)} ${sum}`,
          `${name}_count${labelText(labels, values)} ${count}`,
        )
      }
      return this.#text(name, help, 'histogram', lines)
    }
    this.#metrics.push({ render })
  }

  /** All metrics in the text exposition format 0.0.4. */
  render(): string {
    return this.#metrics.map((metric) => metric.render()).join('')
  }

  #text(name: string, help: string, type: string, lines: readonly string[]): string {
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.length ? `${lines.join('\n')}\n` : ''}`
  }
}
