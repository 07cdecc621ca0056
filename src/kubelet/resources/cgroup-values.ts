/** Values of cgroups for the resources of containers and pods (cgroup v1's units, which runtimes translate for v2). */
import { milliValue, wholeValue } from '../../machinery/values/quantity.ts'

/** The kernel's period for quotas of CPU time, in µs. */
export const cpuPeriod = 100_000
const minShares = 2n
const sharesPerCpu = 1024n
const maxShares = 262_144n
/** The kernel accepts no smaller quota, in µs. */
const minQuota = 1_000n

/** The weight of a CPU request; without a request the smallest. */
export function cpuShares(request: string | undefined): bigint {
  const milli = request === undefined ? 0n : milliValue(request)
  const shares = (milli * sharesPerCpu) / 1_000n
  return shares < minShares ? minShares : shares > maxShares ? maxShares : shares
}

/** The µs of CPU time per period for a CPU limit; 0 means no limit. */
export function cpuQuota(limit: string | undefined): bigint {
  const milli = limit === undefined ? 0n : milliValue(limit)
  if (milli === 0n) return 0n
  const quota = (milli * BigInt(cpuPeriod)) / 1_000n
  return quota < minQuota ? minQuota : quota
}

/** The bytes of a memory limit; 0 means no limit. */
export const memoryLimit = (limit: string | undefined): bigint => (limit === undefined ? 0n : wholeValue(limit))

/** The thousandths of a CPU for a weight, rounded up. */
export const milliOfShares = (shares: bigint): bigint =>
  shares < minShares ? 0n : (shares * 1_000n + sharesPerCpu - 1n) / sharesPerCpu

/** The thousandths of a CPU for a quota; 0 for no limit. */
export const milliOfQuota = (quota: bigint, period: bigint): bigint => (quota < 0n ? 0n : (quota * 1_000n) / period)
