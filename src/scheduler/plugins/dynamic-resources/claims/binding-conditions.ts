/** Binding conditions: drivers report with them that devices are ready for a pod (KEP-5007). */
import type { ResourceClaim } from '../../../../client/kinds.ts'

export const hasBindingConditions = ({ status }: ResourceClaim): boolean =>
  status?.allocation?.devices?.results?.some(({ bindingConditions }) => (bindingConditions?.length ?? 0) > 0) ?? false

/** The remaining time for the claim's devices to become ready, in ms; negative after the timeout. */
export function timeLeft({ status }: ResourceClaim, timeoutMs: number, now: number): number {
  const since = status?.allocation?.allocationTimestamp
  return since === undefined ? timeoutMs : Date.parse(since) + timeoutMs - now
}

/** Returns true if a device of the claim failed or is overdue. Other devices have to be found. */
export function isUnusable(claim: ResourceClaim, timeoutMs: number, now: number): boolean {
  try {
    return hasBindingConditions(claim) && !isReady(claim) && timeLeft(claim, timeoutMs, now) < 0
  } catch {
    return true
  }
}

/** Returns true if all devices of a claim are ready. Throws an Error if one of them has failed. */
export function isReady(claim: ResourceClaim): boolean {
  let ready = true
  for (const { driver, pool, device, shareID, bindingConditions = [], bindingFailureConditions = [] } of claim.status
    ?.allocation?.devices?.results ?? []) {
    if (bindingConditions.length === 0) continue
    const reported = claim.status?.devices?.find(
      (one) =>
        one.driver === driver && one.pool === pool && one.device === device && (one.shareID ?? shareID) === shareID,
    )
    const ofType = (type: string) =>
      reported?.conditions?.find((condition) => condition.type === type && condition.status === 'True')
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
