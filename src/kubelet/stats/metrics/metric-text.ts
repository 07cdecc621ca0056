/** Metrics with times of measurement, in Prometheus' text format. */

export interface MetricRow {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** In ms since 1970. */
  readonly time?: number
}

const escaped = (value: string): string => value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))

/** Labels are sorted by name, as Prometheus' library does. Returns '' without rows. */
export function metricText(name: string, type: 'counter' | 'gauge', help: string, rows: readonly MetricRow[]): string {
  if (rows.length === 0) return ''
  const lines = rows.map(({ labels, value, time }) => {
    const pairs = Object.entries(labels)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([label, text]) => `${label}="${escaped(text)}"`)
    const suffix = time === undefined ? '' : ` ${Math.round(time)}`
    return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}${suffix}\n`
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}
