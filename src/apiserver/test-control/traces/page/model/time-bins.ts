/** The timeline: the trace in equal parts, with the number of requests, errors and versions in each. */
import type { TraceData } from '../../trace-data.ts'

export interface TimeBin {
  /** In ms since 1970. */
  readonly from: number
  readonly to: number
  readonly requests: number
  readonly errors: number
  readonly versions: number
}

/** Returns at most `count` bins, none shorter than 1 ms. */
export function timeBins({ begin, end, requests, versions }: TraceData, count: number): TimeBin[] {
  const first = Math.min(begin, ...requests.slice(0, 1).map(({ time }) => time))
  const span = Math.max(1, end - first + 1)
  const size = Math.max(1, span / count)
  const bins = Array.from({ length: Math.ceil(span / size) }, (_, i) => ({
    ...{ from: first + i * size, to: first + (i + 1) * size },
    ...{ requests: 0, errors: 0, versions: 0 },
  }))
  const binOf = (time: number) => bins[Math.min(bins.length - 1, Math.max(0, Math.floor((time - first) / size)))]!
  for (const { time, code } of requests) {
    const bin = binOf(time)
    bin.requests++
    if (code >= 400) bin.errors++
  }
  for (const { time } of versions) binOf(time).versions++
  return bins
}
