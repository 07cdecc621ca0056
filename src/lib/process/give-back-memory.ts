/**
 * Gives memory back to the system in quiet moments. V8 collects when it needs room, so that a thread that rests keeps
 * what it needed to get so far: after a start that is a sixth of the process.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { trimMalloc } from './trim-malloc.ts'
import { workedMs } from './worked-ms.ts'

const lookMs = 5_000
/**
 * A thread that has worked no longer than this part of the time is quiet: thousands of idle nodes keep theirs busy for
 * a tenth.
 */
const quietShare = 0.15
/** While other threads are under load, a collection would take a processor from them. */
const quietProcessShare = 0.6
/** Less is not worth the work: so much, and a part of what the thread held after the last time. */
const worthBytes = 12 * 1024 * 1024
const worthShare = 0.2
/** Nor is it more often than this. */
const restMs = 30_000
/** Everything waits while a heap is collected, some 2 ms a megabyte: larger ones are left to V8. */
const mostBytes = 128 * 1024 * 1024

/**
 * Begins to look at this thread now and then. `collected` is told when its heap was collected. The returned function
 * ends that.
 */
export function giveBackMemory(collected?: () => void): () => void {
  // Not how long the event loop was at work: on a machine that others use, it waits for its turn most of that time.
  let worked = workedMs(process.threadCpuUsage())
  let allWorked = workedMs(process.cpuUsage())
  let kept = 0
  let rested = Number.NEGATIVE_INFINITY
  const giveBack = (): void => {
    if (performance.now() < rested) return
    if (heldBytes() < kept * (1 + worthShare) + worthBytes || getHeapStatistics().used_heap_size > mostBytes) return
    collect(kept === 0 ? 'last-resort' : 'regular')
    kept = heldBytes()
    rested = performance.now() + restMs
    collected?.()
  }
  const timer = setInterval(() => {
    const [before, allBefore] = [worked, allWorked]
    worked = workedMs(process.threadCpuUsage())
    allWorked = workedMs(process.cpuUsage())
    if (worked - before > quietShare * lookMs || allWorked - allBefore > quietProcessShare * lookMs) return
    giveBack()
    void trimMalloc()
  }, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** The heap and the buffers beside it: those of requests that are over go only when it is collected. */
function heldBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics()
  return total_heap_size + external_memory
}

let gc: ((options: object) => void) | undefined

/**
 * The last resort is several collections, which together give back what a start has left behind; after that, one is
 * enough.
 */
function collect(flavor: 'last-resort' | 'regular'): void {
  if (!gc) {
    // Only contexts that are made after the flag was set know the function.
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as (options: object) => void
  }
  gc({ type: 'major', execution: 'sync', flavor })
}
