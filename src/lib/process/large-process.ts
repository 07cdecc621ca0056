/**
 * Buffers beside the heap make V8 collect all of it for each 64 MB of them. That costs what is alive, so in a large process they only count
 * as its heap does; in a small one, memory at rest counts for more (docs/decisions/0010).
 */
import { setFlags } from './v8-flags.ts'

/** A process of this size is large. */
const largeBytes = 640 * 1024 * 1024

let isLarge = false

/** To be called now and then, by any thread: the flag is one for all of them. What was large once stays so. */
export function minimizeCollectionsOnceLarge(): void {
  if (isLarge || process.memoryUsage.rss() < largeBytes) return
  isLarge = true
  setFlags('--external-memory-accounted-in-global-limit')
}
