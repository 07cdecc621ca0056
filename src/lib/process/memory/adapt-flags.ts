/** V8 flags for processes that have become large or have worked for long (docs/decisions/0010). */

import { cpuMs } from '../cpu-ms.ts'
import { setFlags } from './v8-flags.ts'

const checkMs = 5_000
const megabyte = 1024 * 1024

export interface ProcessState {
  /** Resident memory in bytes. */
  readonly resident: number
  /** CPU time of all threads so far. */
  readonly cpuMs: number
}

interface Adaptation {
  isDue(state: ProcessState): boolean
  readonly flags: readonly string[]
}

const adaptations: readonly Adaptation[] = [
  // V8 collects the whole heap for each 64 MB of external buffers, which is expensive for a large heap.
  { isDue: ({ resident }) => resident >= 640 * megabyte, flags: ['--external-memory-accounted-in-global-limit'] },
  // Turbofan takes seconds to compile a server's code, which only pays off in a long-running process.
  { isDue: ({ cpuMs }) => cpuMs >= 20_000, flags: ['--turbofan', '--invocation-count-for-turbofan=3000'] },
]

let pending = adaptations

/** Returns the flags that have become due since the last call. */
export function flagsDue(state: ProcessState): string[] {
  const due = pending.filter((adaptation) => adaptation.isDue(state))
  if (due.length > 0) pending = pending.filter((adaptation) => !due.includes(adaptation))
  return due.flatMap(({ flags }) => flags)
}

/** Checks this process every 5 s until all flags are set. Flags apply to all threads, so one thread calls this. */
export function adaptFlags(): void {
  const timer = setInterval(() => {
    setFlags(...flagsDue({ resident: process.memoryUsage.rss(), cpuMs: cpuMs(process.cpuUsage()) }))
    if (pending.length === 0) clearInterval(timer)
  }, checkMs).unref()
}
