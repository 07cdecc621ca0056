/** A thread that others' requests do not wait for lets those go first that they do. */
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Under contention, a third of the time of a thread that has not stepped back. */
const niceness = 5
const mostNice = 19

/**
 * Lowers the priority of the thread that calls it. On Linux alone: elsewhere a priority is that of a whole process, and
 * nothing is done.
 */
export function stepBack(): void {
  if (process.platform !== 'linux') return
  try {
    // PROCESS/task/THREAD (proc(5)); Linux takes a thread's id where it takes a process's.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, Math.min(getPriority(thread) + niceness, mostNice))
  } catch {
    // Where /proc is not mounted, all threads are equal.
  }
}
