/** Usage of resources by a cgroup. */

/** Times are in ns, sizes in bytes. Absent values are not reported by the kernel, or mean no limit. */
export interface CgroupUsage {
  /** When it was read, in ms since 1970. */
  readonly time: number
  readonly cpu: CpuUsage
  readonly memory: MemoryUsage
  readonly processes: number | undefined
  readonly maxProcesses: number | undefined
  readonly io: IoUsage
}

export interface CpuUsage {
  readonly usage: number
  readonly user: number
  readonly system: number
  readonly periods: number
  readonly throttledPeriods: number
  readonly throttledTime: number
  readonly shares: number | undefined
  /** In µs per period. */
  readonly quota: number | undefined
  /** In µs. */
  readonly period: number | undefined
}

export interface MemoryUsage {
  readonly usage: number
  /** Usage without file pages that the kernel can drop. */
  readonly workingSet: number
  readonly rss: number
  readonly cache: number
  readonly mappedFile: number
  readonly swap: number
  readonly pageFaults: number
  readonly majorPageFaults: number
  readonly limit: number | undefined
  readonly swapLimit: number | undefined
  /** Protected (v2) or aimed at under pressure (v1). */
  readonly reservation: number | undefined
  readonly kernel: number
  readonly maxUsage: number | undefined
  readonly failures: number
  readonly oomKills: number
}

/** Totals of all devices. */
export interface IoUsage {
  readonly readBytes: number
  readonly writtenBytes: number
  readonly reads: number
  readonly writes: number
}

/** Reads a file of a cgroup; '' if it does not exist. */
export type ReadCgroupFile = (controller: string, name: string) => string

/** The number in a file, or undefined for a missing one and for `max`. */
export function numberIn(text: string): number | undefined {
  const value = text.trim()
  return /^\d+$/.test(value) ? Number(value) : undefined
}

/** Returns a function of the keys in lines of `KEY VALUE`: 0 for a missing one. */
export function fieldsIn(text: string): (key: string) => number {
  const fields = new Map(text.split('\n').map((line) => line.split(' ', 2) as [string, string]))
  return (key) => Number(fields.get(key) ?? 0) || 0
}

/** The working set: usage without inactive file pages, at least 0. */
export const workingSetOf = (usage: number, inactiveFile: number): number => Math.max(0, usage - inactiveFile)
