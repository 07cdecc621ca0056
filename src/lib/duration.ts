/** Durations in Go syntax, as in Kubernetes' flags: `300ms`, `5m`, `1h30m`. */

const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Parses a duration; returns ms, or undefined for an invalid or negative duration. */
export function parseDurationMs(text: string): number | undefined {
  if (text === '0') return 0
  if (text === '') return undefined
  // A single expression for all parts would overflow the stack for a million parts.
  const part = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/y
  let total = 0
  while (part.lastIndex < text.length) {
    const match = part.exec(text)
    if (!match) return undefined
    total += Number(match[1]) * (unitsMs[match[2] ?? ''] ?? 0)
  }
  return total
}
