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

export interface Counter {
  /** Adds `by` for these label values (in the order of the names). */
  add(values: Labels, by?: number): void
}

export interface Histogram {
  observe(values: Labels, value: number): void
}

export class MetricsRegistry {
  readonly #metrics: Metric[] = []

  counter(name: string, help: string, labels: Labels = []): Counter {
    const series = new Map<string, { values: Labels; total: number }>()
    this.#metrics.push({
      render: () =>
        this.#text(
          name,
          help,
          'counter',
          [...series.values()].map(({ values, total }) => `${name}${labelText(labels, values)} ${total}`),
        ),
    })
    return {
      add(values, by = 1) {
        const key = values.join('\0')
        const found = series.get(key)
        if (found) found.total += by
        else series.set(key, { values: [...values], total: by })
      },
    }
  }

  /** A gauge is read when it is asked for. */
  gauge(name: string, help: string, labels: Labels, read: () => Iterable<readonly [Labels, number]>): void {
    this.#metrics.push({
      render: () =>
        this.#text(
          name,
          help,
          'gauge',
          [...read()].map(([values, value]) => `${name}${labelText(labels, values)} ${value}`),
        ),
    })
  }

  histogram(name: string, help: string, buckets: readonly number[], labels: Labels = []): Histogram {
    const series = new Map<string, { values: Labels; counts: number[]; sum: number; count: number }>()
    const render = (): string => {
      const lines: string[] = []
      for (const { values, counts, sum, count } of series.values()) {
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
    return {
      observe(values, value) {
        const key = values.join('\0')
        let found = series.get(key)
        if (!found) series.set(key, (found = { values: [...values], counts: buckets.map(() => 0), sum: 0, count: 0 }))
        found.sum += value
        found.count++
        for (let i = 0; i < buckets.length; i++) {
          if (value <= buckets[i]!) {
            found.counts[i]!++
            break
          }
        }
      },
    }
  }

  /** All metrics in the text exposition format 0.0.4. */
  render(): string {
    return this.#metrics.map((metric) => metric.render()).join('')
  }

  #text(name: string, help: string, type: string, lines: readonly string[]): string {
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.length ? `${lines.join('\n')}\n` : ''}`
  }
}
