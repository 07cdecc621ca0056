/** The values of a pod's cgroup, from the resources of its containers or its own (KEP-2837). */
import {
  hasPodResources,
  isPodLevelResource,
  podLimits,
  podRequests,
} from '../../api/core/pod/resources/pod-resources.ts'
import { qosClass } from '../../api/core/pod/resources/qos.ts'
import { wholeValue } from '../../machinery/values/quantity.ts'
import { type CgroupValues, hugePageName } from '../../node/cgroups/tree/cgroup-values.ts'
import { type Container, isSidecar, type Pod, specOf, statusOf } from '../pod-types.ts'
import { cpuPeriod, cpuQuota, cpuShares, memoryLimit } from '../resources/cgroup-values.ts'

export const qosClassOf = (pod: Pod): string => statusOf(pod).qosClass ?? qosClass(specOf(pod))

/** `hasQuota` is the setting `cpuCFSQuota`. Without limits of all containers, the pod has none. */
export function podCgroupValues(pod: Pod, hasQuota: boolean): CgroupValues {
  const requests = podRequests(pod, { overhead: true })
  const limits = podLimits(pod, { overhead: true })
  const shares = { cpuShares: cpuShares(requests.cpu) }
  const quota = { cpuQuota: hasQuota ? cpuQuota(limits.cpu) : -1n, cpuPeriod: BigInt(cpuPeriod) }
  const memory = { memory: memoryLimit(limits.memory) }
  const hugePages = hugePageLimits(requests)
  switch (qosClassOf(pod)) {
    case 'Guaranteed':
      return { ...shares, ...quota, ...memory, hugePages }
    case 'Burstable':
      return {
        ...shares,
        ...(hasLimit(pod, 'cpu') && quota),
        ...(hasLimit(pod, 'memory') && memory),
        hugePages,
      }
    default:
      return { cpuShares: cpuShares(undefined), hugePages }
  }
}

/** True if the pod, or each container that runs in it, has a limit of a resource. */
function hasLimit(pod: Pod, name: 'cpu' | 'memory'): boolean {
  const { containers, initContainers = [], resources } = specOf(pod)
  if (hasPodResources(pod) && isSet(resources?.limits?.[name])) return true
  let hasSidecar = false
  const isLimited = (container: Container): boolean => isSet(container.resources?.limits?.[name])
  const init = initContainers.every((container) => {
    const has = isLimited(container) || hasSidecar
    if (isSidecar(container)) hasSidecar ||= isLimited(container)
    return has
  })
  return init && containers.every(isLimited)
}

const isSet = (amount: string | undefined): boolean => amount !== undefined && wholeValue(amount) > 0n

/** Bytes of huge pages by the names of their sizes in files of cgroups. */
export function hugePageLimits(amounts: Readonly<Record<string, string>>): ReadonlyMap<string, bigint> {
  const limits = new Map<string, bigint>()
  for (const [name, amount] of Object.entries(amounts)) {
    if (!name.startsWith(hugePagesPrefix) || !isPodLevelResource(name)) continue
    const size = hugePageName(wholeValue(name.slice(hugePagesPrefix.length)))
    limits.set(size, (limits.get(size) ?? 0n) + wholeValue(amount))
  }
  return limits
}

const hugePagesPrefix = 'hugepages-'
