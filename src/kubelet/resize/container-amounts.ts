/** The amounts of a container that a resize changes. */

import { milliValue, wholeValue } from '../../machinery/values/quantity.ts'
import type { Requirements } from '../allocation/pod-resources.ts'
import { cpuQuantity, memoryQuantity } from '../resources/quantities.ts'

/** CPU in thousandths, memory in bytes; 0 means none. */
export interface ContainerAmounts {
  readonly cpuRequest: bigint
  readonly cpuLimit: bigint
  readonly memoryRequest: bigint
  readonly memoryLimit: bigint
}

const resizable = ['cpu', 'memory'] as const

/** The requirements of a container; it has the limits of its pod that it does not have itself. */
export function effectiveRequirements(own: Requirements = {}, pod: Requirements | undefined): Requirements {
  const limits: Record<string, string> = { ...own.limits }
  for (const name of resizable) {
    const whole = pod?.limits?.[name]
    if (isNone(limits[name]) && !isNone(whole)) limits[name] = whole!
  }
  return Object.keys(limits).length > 0 ? { ...own, limits } : own
}

const isNone = (amount: string | undefined): boolean => amount === undefined || milliValue(amount) === 0n

export const amountsOf = ({ requests = {}, limits = {} }: Requirements = {}): ContainerAmounts => ({
  cpuRequest: milliValue(requests.cpu ?? '0'),
  cpuLimit: milliValue(limits.cpu ?? '0'),
  memoryRequest: wholeValue(requests.memory ?? '0'),
  memoryLimit: wholeValue(limits.memory ?? '0'),
})

export const sameAmounts = (a: ContainerAmounts, b: ContainerAmounts): boolean =>
  a.cpuRequest === b.cpuRequest &&
  a.cpuLimit === b.cpuLimit &&
  a.memoryRequest === b.memoryRequest &&
  a.memoryLimit === b.memoryLimit

/** The requirements as they are recorded: zero is no request and no limit. */
export function requirementsOf(amounts: ContainerAmounts): Requirements {
  const { cpuRequest, cpuLimit, memoryRequest, memoryLimit } = amounts
  return { requests: amountsText(cpuRequest, memoryRequest), limits: amountsText(cpuLimit, memoryLimit) }
}

const amountsText = (cpu: bigint, memory: bigint): Record<string, string> => ({
  ...(cpu > 0n && { cpu: cpuQuantity(cpu) }),
  ...(memory > 0n && { memory: memoryQuantity(memory) }),
})
