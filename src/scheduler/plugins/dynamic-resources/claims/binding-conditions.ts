/** Devices that need time before a pod can use them say so by conditions, which their drivers write (KEP-5007). */
import type { ResourceClaim } from '../../../../client/kinds.ts'

export const hasBindingConditions = ({ status }: ResourceClaim): boolean =>
  status?.allocation?.devices?.results?.some(({ bindingConditions }) => (bindingConditions?.length ?? 0) > 0) ?? false

/** Whether all devices of a claim can be used. Throws an Error where one of them never will. */
export function isReady(claim: ResourceClaim): boolean {
  let ready = true
  for (const { driver, pool, device, shareID, bindingConditions = [], bindingFailureConditions = [] } of claim.status?.allocation?.devices?.results ?? []) {
    if (bindingConditions.length === 0) continue
    const told = claim.status?.devices?.find(
      (one) => one.driver === driver && one.pool === pool && one.device === device && (one.shareID ?? shareID) === shareID,
    )
    const isTrue = (type: string): boolean => told?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
    const failure = bindingFailureConditions.find(isTrue)
    if (failure !== undefined) throw new Error(`claim ${claim.metadata.name} binding failed: device ${driver}/${pool}/${device} reports ${failure}`)
    ready &&= bindingConditions.every(isTrue)
  }
  return ready
}
