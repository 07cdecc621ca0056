/** The resources of a container in its status: those that its cgroup has, as far as the runtime reports them. */
import type { ContainerStatus as RuntimeStatus } from '#protobuf/cri-runtime_pb.js'
import { milliValue } from '../../machinery/values/quantity.ts'
import type { Requirements } from '../allocation/pod-resources.ts'
import type { Container, ContainerStatus } from '../pod-types.ts'
import { isRunning } from '../pods/runtime-pod.ts'
import { milliOfQuota, milliOfShares } from '../resources/cgroup-values.ts'
import { cpuQuantity, memoryQuantity } from '../resources/quantities.ts'

/** CPU limits up to 10m, and requests up to 2m, have the same effect: the allocated amount is shown. */
const leastCpuLimit = 10n
const leastCpuRequest = 2n

interface Amounts {
  readonly cpuLimit?: string | undefined
  readonly cpuRequest?: string | undefined
  readonly memoryLimit?: string | undefined
  readonly memoryRequest?: string | undefined
}

/**
 * `container` has its allocated resources; `actual` are those that the kubelet has given to its cgroup, which stand in
 * for a runtime that reports none.
 */
export function containerResources(
  container: Container,
  newest: RuntimeStatus | undefined,
  actual: Requirements | undefined,
  before: ContainerStatus | undefined,
): Partial<ContainerStatus> {
  if (!newest) return {}
  const { requests, limits } = container.resources ?? {}
  const allocated = hasMembers(requests) ? { allocatedResources: { ...requests } } : {}
  if (!isRunning(newest)) return { ...allocated, resources: { ...container.resources } }
  const amounts = reportedAmounts(newest, actual)
  const isSame = before?.state?.running !== undefined && before.containerID?.endsWith(newest.id)
  const old = isSame ? before.resources : undefined
  return {
    ...allocated,
    resources: {
      ...container.resources,
      ...(limits && {
        limits: shown(limits, amounts.cpuLimit, amounts.memoryLimit, leastCpuLimit, old?.limits),
      }),
      ...(requests && {
        requests: shown(requests, amounts.cpuRequest, amounts.memoryRequest, leastCpuRequest, old?.requests),
      }),
    },
  }
}

function shown(
  allocated: Readonly<Record<string, string>>,
  cpu: string | undefined,
  memory: string | undefined,
  leastCpu: bigint,
  old: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const amounts: Record<string, string> = { ...allocated }
  if (cpu === undefined) retain(amounts, old, 'cpu')
  else if (milliValue(cpu) > leastCpu || milliValue(allocated.cpu ?? '0') > leastCpu) amounts.cpu = cpu
  if (memory === undefined) retain(amounts, old, 'memory')
  else amounts.memory = memory
  return amounts
}

function retain(amounts: Record<string, string>, old: Readonly<Record<string, string>> = {}, name: string): void {
  if (old[name] !== undefined) amounts[name] = old[name]
}

function reportedAmounts({ resources }: RuntimeStatus, actual: Requirements | undefined): Amounts {
  const linux = resources?.linux
  const milliLimit = linux && linux.cpuPeriod > 0n ? milliOfQuota(linux.cpuQuota, linux.cpuPeriod) : 0n
  const milliRequest = linux ? milliOfShares(linux.cpuShares) : 0n
  const memory = linux?.memoryLimitInBytes ?? 0n
  const { requests = {}, limits = {} } = actual ?? {}
  if (milliLimit <= 0n && milliRequest <= 0n && memory <= 0n)
    return actual
      ? {
          cpuLimit: limits.cpu ?? '0',
          cpuRequest: requests.cpu ?? '0',
          memoryLimit: limits.memory ?? '0',
          memoryRequest: requests.memory ?? '0',
        }
      : {}
  return {
    ...(milliLimit > 0n && { cpuLimit: cpuQuantity(milliLimit) }),
    ...(milliRequest > 0n && { cpuRequest: cpuQuantity(milliRequest) }),
    ...(memory > 0n && { memoryLimit: memoryQuantity(memory) }),
    ...(requests.memory !== undefined && { memoryRequest: requests.memory }),
  }
}

const hasMembers = (amounts: object | undefined): boolean => amounts !== undefined && Object.keys(amounts).length > 0
