/** The limits and weights of a cgroup, in the units of cgroup v1. */

/** Absent values do not change. */
export interface CgroupValues {
  /** The weight of its CPU time against its siblings, 2 to 262144. */
  readonly cpuShares?: bigint
  /** CPU time per period in µs; -1 is no limit. */
  readonly cpuQuota?: bigint
  /** In µs. */
  readonly cpuPeriod?: bigint
  /** In bytes; -1 is no limit. */
  readonly memory?: bigint
  /** The number of processes and threads. */
  readonly pids?: bigint
  /** Bytes of huge pages by their size, such as `2MB`; sizes that are absent get 0. */
  readonly hugePages?: ReadonlyMap<string, bigint>
}

const minShares = 2n
const maxShares = 262_144n
const maxWeight = 10_000n

/** The weight of cgroup v2 (1 to 10000) for shares, on a line between the ends, as the kubelet of upstream. */
export const weightOfShares = (shares: bigint): bigint =>
  shares >= maxShares ? maxWeight : 1n + ((shares - minShares) * (maxWeight - 1n)) / (maxShares - minShares)

/** The shares for a weight of cgroup v2. */
export const sharesOfWeight = (weight: bigint): bigint =>
  ((weight - 1n) * (maxShares - minShares)) / (maxWeight - 1n) + minShares

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** The name of a size of huge pages in files of cgroups: `2MB` for 2097152. */
export function hugePageName(bytes: bigint): string {
  let size = bytes
  let unit = 0
  while (size >= 1024n && unit < units.length - 1) {
    size /= 1024n
    unit++
  }
  return `${size}${units[unit]}`
}
