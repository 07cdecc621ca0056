/** Devices that need time before a pod can use them say so by conditions, which their drivers write (KEP-5007). */
import type { ResourceClaim } from '../../../../client/kinds.ts'

export const hasBindingConditions = ({ status }: ResourceClaim): boolean =>
  status?.allocation?.devices?.results?.some(({ bindingConditions }) => (bindingConditions?.length ?? 0) > 0) ?? false

/** How long the claim's devices may still take to become ready; below 0, they are given up. In ms. */
export function timeLeft({ status }: ResourceClaim, timeoutMs: number, now: number): number {
  const since = status?.allocation?.allocationTimestamp
  return since === undefined ? timeoutMs : Date.parse(since) + timeoutMs - now
}

/** Whether the claim's devices are of no use: one of them failed, or they take too long. Others have to be found. */
export function isLost(claim: ResourceClaim, timeoutMs: number, now: number): boolean {
  try {
    return hasBindingConditions(claim) && !isReady(claim) && timeLeft(claim, timeoutMs, now) < 0
  } catch {
    return true
  }
}

/** Whether all devices of a claim can be used. Throws an Error where one of them never will. */
export function isReady(claim: ResourceClaim): boolean {
  let ready = true
  for (const { driver, pool, device, shareID, bindingConditions = [], bindingFailureConditions = [] } of claim.status
    ?.allocation?.devices?.results ?? []) {
    if (bindingConditions.length === 0) continue
    const told = claim.status?.devices?.find(
      (one) =>
        one.driver === driver && one.pool === pool && one.device === device && (one.shareID ?? shareID) === shareID,
    )
    const ofType = (type: string) =>
      told?.conditions?.find((condition) => condition.type === type && condition.status === 'True')
    for (const type of bindingFailureConditions) {
      const failure = ofType(type)
      if (failure)
        throw new Error(
          `claim ${claim.metadata.name} binding failed: reason=${failure.reason}, ` +
            `message=${JSON.stringify(failure.message)}`,
        )
    }
    ready &&= bindingConditions.every((type) => ofType(type) !== undefined)
  }
  return ready
}
