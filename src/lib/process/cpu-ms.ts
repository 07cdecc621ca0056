/** CPU time of processes and threads. */
import { readFileSync } from 'node:fs'

/** CPU time in ms of a result of `process.cpuUsage()`. */
export const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

/** Not in Node 22. */
const { threadCpuUsage } = process as Partial<Pick<NodeJS.Process, 'threadCpuUsage'>>

/**
 * CPU time of the calling thread in ms. Node 22 cannot report it, so there the kernel does (schedstat, in ns); without
 * Linux it is the time of the process.
 */
export function threadCpuMs(): number {
  if (threadCpuUsage) return cpuMs(threadCpuUsage.call(process))
  const [nanoseconds] = threadStatistics().split(' ')
  return nanoseconds ? Number(nanoseconds) / 1e6 : cpuMs(process.cpuUsage())
}

/** Empty if the system does not report it. */
function threadStatistics(): string {
  try {
    return readFileSync('/proc/thread-self/schedstat', 'utf8')
  } catch {
    return ''
  }
}
