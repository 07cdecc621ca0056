/** Metrics in Prometheus' text format: counters, gauges and histograms with labels, fast enough for every request. */

type Labels = readonly string[]

const escapeValue = (value: string): string => value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))
const labelText = (names: Labels, values: Labels, extra = ''): string => {
  const pairs = names.map((name, i) => `${name}="${escapeValue(values[i] ?? '')}"`)
  if (extra) pairs.push(extra)
  return pairs.length ? `{${pairs.join(',')}}` : ''
}

/** Prometheus writes `+Inf`. */
const numberText = (value: number): string => String(value).replace(/^(-?)Infinity$/, (_, sign) => `${sign || '+'}Inf`)

interface Metric {
  render(): string
}

/** A counter with fixed label values. */
export interface CounterSeries {
  add(by?: number): void
}

export interface HistogramSeries {
  /** Observes a value, `times` times (default: 1). */
  observe(value: number, times?: number): void
}

/** Returns the series of label values (in the order of the names); creates it on first use. */
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

/** Counts values by buckets: a histogram without labels, for use outside of a registry. */
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

const seriesOf =
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

  /** Registers a counter. */
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
    return seriesOf(series, (values) => new CountedSeries(values))
  }

  /** Registers a gauge; `read` is called at each scrape. */
  gauge(name: string, help: string, labels: Labels, read: () => Iterable<readonly [Labels, number]>): void {
    this.#registerRead('gauge', name, help, labels, read)
  }

  /** Registers a counter whose values are stored elsewhere; `read` is called at each scrape. */
  externalCounter(name: string, help: string, labels: Labels, read: () => Iterable<readonly [Labels, number]>): void {
    this.#registerRead('counter', name, help, labels, read)
  }

  #registerRead(
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
          [...read()].map(([values, value]) => `${name}${labelText(labels, values)} ${numberText(value)}`),
        ),
    })
  }

  /** Registers a histogram with bucket bounds in ascending order. */
  histogram(name: string, help: string, buckets: readonly number[], labels: Labels = []): SeriesOf<HistogramSeries> {
    const series = new Map<string, BucketedSeries>()
    this.externalHistogram(name, help, buckets, labels, () =>
      [...series.values()].map((one) => [one.values, one] as const),
    )
    return seriesOf(series, (values) => new BucketedSeries(values, buckets))
  }

  /** Registers a histogram whose values are counted elsewhere, with the same buckets. */
  externalHistogram(
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

  /** Returns all metrics in the text exposition format 0.0.4. */
  render(): string {
    return this.#metrics.map((metric) => metric.render()).join('')
  }

  #text(name: string, help: string, type: string, lines: readonly string[]): string {
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.length ? `${lines.join('\n')}\n` : ''}`
  }
}
