/**
 * How much the heaps of all threads may grow before they are collected, in percent of what was alive last: as much as was alive while the
 * process is small, less the more it holds. What a collection costs grows with what is alive; so does what waits to be collected.
 */
import { setFlags } from './v8-flags.ts'

/** A process of this size lets its heaps grow to double. */
const modestBytes = 320 * 1024 * 1024
const leastPercent = 50

let percent = 100

/** To be called now and then, by any thread: the flag is one for all of them, and is read by each collection. */
export function boundHeapGrowth(): void {
  const wanted = growthPercent(process.memoryUsage.rss())
  if (wanted === percent) return
  percent = wanted
  setFlags(`--heap-growing-percent=${percent}`)
}

/** In steps of ten. */
export const growthPercent = (residentBytes: number): number => Math.max(leastPercent, Math.min(100, Math.round((modestBytes / residentBytes) * 10) * 10))
