/** The resources of a pod as a whole in its status (KEP-5419): those that its cgroup has, and the allocated ones. */
import { podLimits, podRequests } from '../../api/core/pod/resources/pod-resources.ts'
import { milliValue } from '../../machinery/values/quantity.ts'
import type { CgroupValues } from '../../node/cgroups/tree/cgroup-values.ts'
import { type Pod, type PodStatus, specOf, statusOf } from '../pod-types.ts'
import { milliOfQuota, milliOfShares } from '../resources/cgroup-values.ts'
import { cpuQuantity, memoryQuantity } from '../resources/quantities.ts'

const leastCpuRequest = 2n
const leastCpuLimit = 10n

type Amounts = Record<string, string>

/** `pod` has its allocated resources, and its status as it was; `cgroup` are the values of its cgroup, if any. */
export function podLevelResources(pod: Pod, cgroup: CgroupValues | undefined): Partial<PodStatus> {
  const allocatedResources = podRequests(pod, { overhead: true })
  return {
    resources: statusOf(pod).phase === 'Running' ? runningResources(pod, cgroup) : allocated(pod),
    ...(Object.keys(allocatedResources).length > 0 && { allocatedResources }),
  }
}

function allocated(pod: Pod): PodStatus['resources'] {
  const requests = podRequests(pod, { overhead: true })
  const limits = podLimits(pod, { overhead: true })
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(requests).length > 0 && { requests }),
  }
}

function runningResources(pod: Pod, cgroup: CgroupValues | undefined): PodStatus['resources'] {
  const own = specOf(pod).resources
  const before = statusOf(pod).resources
  const requests: Amounts = { ...own?.requests }
  const limits: Amounts = { ...own?.limits }
  const { cpuShares = 0n, cpuQuota = -1n, cpuPeriod = 0n, memory = -1n } = cgroup ?? {}
  const request = milliOfShares(cpuShares)
  if (request <= 0n) retain(requests, before?.requests, 'cpu')
  else if (request > leastCpuRequest || milliValue(requests.cpu ?? '0') > leastCpuRequest)
    requests.cpu = cpuQuantity(request)
  // A cgroup has no request of memory: it is the allocated one.
  const sum = podRequests(pod, { overhead: true }).memory
  if (requests.memory === undefined && sum !== undefined) requests.memory = sum
  const limit = cpuPeriod > 0n ? milliOfQuota(cpuQuota, cpuPeriod) : 0n
  if (limit <= 0n) retain(limits, before?.limits, 'cpu')
  else if (limit > leastCpuLimit || milliValue(limits.cpu ?? '0') > leastCpuLimit) limits.cpu = cpuQuantity(limit)
  if (memory > 0n) limits.memory = memoryQuantity(memory)
  else retain(limits, before?.limits, 'memory')
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(requests).length > 0 && { requests }),
  }
}

function retain(amounts: Amounts, old: Readonly<Amounts> = {}, name: string): void {
  if (old[name] !== undefined) amounts[name] = old[name]
}
