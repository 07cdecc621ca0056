/**
 * Gives memory back to the system in quiet moments. V8 collects when it needs room, so that a thread that rests keeps what it needed to
 * get so far: after a start that is a sixth of the process.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookMs = 5_000
/** A thread that has worked no longer than this part of the time is quiet. */
const quietShare = 0.02
/** Less is not worth the work. */
const worthBytes = 12 * 1024 * 1024
/** Everything waits while a heap is collected, some 2 ms a megabyte: larger ones are left to V8. */
const mostBytes = 96 * 1024 * 1024

/** Begins to look at this thread now and then. The returned function ends that. */
export function giveBackMemory(): () => void {
  let before = performance.eventLoopUtilization()
  let kept = 0
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    if (utilization > quietShare) return
    const { total_heap_size: held, used_heap_size: used } = getHeapStatistics()
    if (held < kept + worthBytes || used > mostBytes) return
    collectAll()
    kept = getHeapStatistics().total_heap_size
  }, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}

let collect: ((options: object) => void) | undefined

function collectAll(): void {
  if (!collect) {
    // Only contexts that are made after the flag was set know the function.
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as (options: object) => void
  }
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
