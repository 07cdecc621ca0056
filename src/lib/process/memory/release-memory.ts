/**
 * Returns memory to the system in quiet moments. V8 collects garbage when it allocates, so that an idle thread holds
 * what it needed earlier: after a start, a sixth of the process.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { cpuMs, threadCpuMs } from '../cpu-ms.ts'
import { trimMalloc } from './trim-malloc.ts'

const checkMs = 5_000
/** A thread is quiet below this share of CPU time: thousands of idle nodes use a tenth. */
const quietShare = 0.15
/** The same for the process: a collection must not take a CPU from other threads under load. */
const quietProcessShare = 0.6
/** Minimum growth that is worth a collection: absolute, and relative to the memory after the last one. */
const worthBytes = 12 * 1024 * 1024
const worthShare = 0.2
/** Minimum interval of collections, in ms. */
const minIntervalMs = 30_000
/** A collection blocks the thread for some 2 ms per megabyte; larger heaps are left to V8. */
const maxHeapBytes = 128 * 1024 * 1024

/** Starts to check this thread every 5 s; calls `collected` after a collection. Returns a function that stops it. */
export function releaseMemoryWhenIdle(collected?: () => void): () => void {
  // CPU time, not event loop utilization: on a shared machine, the thread waits for a CPU for most of that time.
  let worked = threadCpuMs()
  let allWorked = cpuMs(process.cpuUsage())
  let heldAfterLast = 0
  let nextAllowed = Number.NEGATIVE_INFINITY
  const giveBack = (): void => {
    if (performance.now() < nextAllowed) return
    if (
      heldBytes() < heldAfterLast * (1 + worthShare) + worthBytes ||
      getHeapStatistics().used_heap_size > maxHeapBytes
    )
      return
    collect(heldAfterLast === 0 ? 'last-resort' : 'regular')
    heldAfterLast = heldBytes()
    nextAllowed = performance.now() + minIntervalMs
    collected?.()
  }
  const timer = setInterval(() => {
    const [before, allBefore] = [worked, allWorked]
    worked = threadCpuMs()
    allWorked = cpuMs(process.cpuUsage())
    if (worked - before > quietShare * checkMs || allWorked - allBefore > quietProcessShare * checkMs) return
    giveBack()
    void trimMalloc()
  }, checkMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns memory of garbage to the system, also of large heaps: for a start that is over. Blocks the thread. */
export function releaseMemory(): void {
  collect('last-resort')
  void trimMalloc()
}

/** The heap and external buffers, which are only freed by a collection. */
function heldBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics()
  return total_heap_size + external_memory
}

let gc: ((options: object) => void) | undefined

/** `last-resort` runs several collections, which release the garbage of the start; later, one is enough. */
function collect(flavor: 'last-resort' | 'regular'): void {
  if (!gc) {
    // The function only exists in contexts that were created after the flag was set.
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as (options: object) => void
  }
  gc({ type: 'major', execution: 'sync', flavor })
}
