/** Lowers the priority of background threads in favor of threads that serve requests. */
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Under contention, such a thread gets a third of the time of a normal one. */
const niceness = 5
const maxNiceness = 19

/** Lowers the priority of the calling thread. Does nothing outside of Linux, where priorities apply to processes. */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  try {
    // PROCESS/task/THREAD (proc(5)); Linux accepts a thread id as a process id.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, Math.min(getPriority(thread) + niceness, maxNiceness))
  } catch {
    // Without /proc, all threads have the same priority.
  }
}
