/** The resources of containers and sandboxes as values of cgroups, which the runtime sets. */
import { hasPodResources, podLimits, podRequests } from '../../api/core/pod/resources/pod-resources.ts'
import { hugePageLimits } from '../cgroups/pod-cgroup-values.ts'
import { type Container, type Pod, specOf } from '../pod-types.ts'
import { cpuPeriod, cpuQuota, cpuShares, memoryLimit } from '../resources/cgroup-values.ts'
import { oomScoreAdjustment } from '../resources/oom-score.ts'
import type { LinuxResources } from './runtime.ts'

/** The node's memory, and the features of its cgroups. */
export interface NodeResources {
  /** In bytes. */
  readonly memory: bigint
  /** The sizes of huge pages, such as `2MB`. */
  readonly hugePageSizes: readonly string[]
  readonly cgroupVersion: 1 | 2
  /** True if the swap of a cgroup can be limited. */
  readonly hasSwapLimit: boolean
  /** True if limits of CPU time are enforced (`cpuCFSQuota`). */
  readonly hasQuota: boolean
  /** True if only one process is killed when a container exceeds its memory, not all of it (`singleProcessOOMKill`). */
  readonly killsSingleProcess: boolean
}

type Amounts = Readonly<Record<string, string>>

/** The limits of a container. Without a limit of its own it has that of its pod; a limit is also the request. */
export function linuxResources(pod: Pod, container: Container, node: NodeResources): LinuxResources {
  const { requests = {}, limits = {} } = container.resources ?? {}
  const whole: Amounts = hasPodResources(pod) ? (specOf(pod).resources?.limits ?? {}) : {}
  const limit = (name: string): string | undefined => (isZero(limits[name]) ? whole[name] : limits[name])
  const resources = valuesOf(requests.cpu, limit('cpu'), limit('memory'), node)
  const pages = new Map([...hugePageLimits(whole), ...hugePageLimits(limits)])
  return {
    ...resources,
    ...swapOf(resources.memoryLimitInBytes, node),
    oomScoreAdj: BigInt(oomScoreAdjustment(pod, container, node.memory)),
    hugepageLimits: node.hugePageSizes.map((pageSize) => ({ pageSize, limit: pages.get(pageSize) ?? 0n })),
    unified: unifiedOf(node),
  }
}

/** The resources of a pod without its overhead, and the overhead: for runtimes that size a sandbox by them. */
export function sandboxResources(
  pod: Pod,
  node: NodeResources,
): { readonly resources: LinuxResources; readonly overhead: LinuxResources } {
  const limits = podLimits(pod)
  const { overhead } = specOf(pod)
  return {
    resources: valuesOf(podRequests(pod).cpu, limits.cpu, limits.memory, node),
    overhead: overhead ? valuesOf(overhead.cpu, overhead.cpu, overhead.memory, node) : {},
  }
}

const isZero = (amount: string | undefined): boolean => amount === undefined || memoryLimit(amount) === 0n

/** In the units of cgroup v1. */
interface Values {
  readonly cpuShares: bigint
  readonly cpuPeriod?: bigint
  readonly cpuQuota?: bigint
  readonly memoryLimitInBytes: bigint
}

function valuesOf(
  cpuRequest: string | undefined,
  cpuLimit: string | undefined,
  memory: string | undefined,
  { hasQuota }: NodeResources,
): Values {
  return {
    cpuShares: cpuShares(cpuRequest ?? cpuLimit),
    ...(hasQuota && { cpuPeriod: BigInt(cpuPeriod), cpuQuota: cpuQuota(cpuLimit) }),
    memoryLimitInBytes: memoryLimit(memory),
  }
}

/** Containers do not swap: in v1 memory and swap together have the limit of memory. */
const swapOf = (memory: bigint, { cgroupVersion, hasSwapLimit }: NodeResources): { memorySwapLimitInBytes?: bigint } =>
  cgroupVersion === 1 && hasSwapLimit ? { memorySwapLimitInBytes: memory } : {}

const unifiedOf = ({ cgroupVersion, hasSwapLimit, killsSingleProcess }: NodeResources): Record<string, string> =>
  cgroupVersion === 1
    ? {}
    : { ...(!killsSingleProcess && { 'memory.oom.group': '1' }), ...(hasSwapLimit && { 'memory.swap.max': '0' }) }
