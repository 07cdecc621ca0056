/** Until when a pod may use devices that their drivers have tainted with `NoExecute` (KEP-5055). */
import type { Pod, ResourceClaim, ResourceSlice } from '../../../client/kinds.ts'
import { tolerates } from '../../../machinery/selectors/toleration.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'

type Device = NonNullable<NonNullable<ResourceSlice['spec']>['devices']>[number]
export type DeviceTaint = NonNullable<Device['taints']>[number]

/** In ms since the epoch: Infinity for devices without such taints, and for those that are tolerated. */
export function evictionTime(
  claim: ResourceClaim,
  taintsOf: (driver: string, pool: string, device: string) => readonly DeviceTaint[],
): number {
  let soonest = Number.POSITIVE_INFINITY
  for (const { driver, pool, device, tolerations = [] } of claim.status?.allocation?.devices?.results ?? []) {
    for (const taint of taintsOf(driver, pool, device)) {
      if (taint.effect !== 'NoExecute') continue
      const since = Date.parse(taint.timeAdded ?? '') || 0
      soonest = Math.min(
        soonest,
        since + secondsBorne(tolerations.filter((toleration) => tolerates(toleration, taint))) * 1000,
      )
    }
  }
  return soonest
}

/** How long those that bear a taint do so together: for ever if one of them does, else until the first of them ends. */
function secondsBorne(bearing: readonly { readonly tolerationSeconds?: number }[]): number {
  if (bearing.length === 0) return 0
  const ends = bearing.flatMap(({ tolerationSeconds }) =>
    tolerationSeconds === undefined ? [] : Number(tolerationSeconds),
  )
  return ends.length < bearing.length ? Number.POSITIVE_INFINITY : Math.max(0, Math.min(...ends))
}

/**
 * Whether a claim is for this very pod, not for one that had its name before; one that was made for a pod is for no
 * other.
 */
export function isFor(claim: ResourceClaim, pod: Pod): boolean {
  const isNamed = pod.spec?.resourceClaims?.some(({ resourceClaimName }) => resourceClaimName === claim.metadata.name)
  return (
    (isNamed || isControlledBy(claim, pod)) &&
    (claim.status?.reservedFor ?? []).some(({ uid }) => uid === pod.metadata.uid)
  )
}

/** The taints of a device, by the newest of its pool's slices. */
export function taintsOfDevice(slices: Iterable<ResourceSlice>, device: string): readonly DeviceTaint[] {
  const all = [...slices]
  const generationOf = ({ spec }: ResourceSlice): number => spec?.pool.generation ?? 0
  const current = all.filter((slice) => !all.some((other) => generationOf(other) > generationOf(slice)))
  return current.flatMap(({ spec }) => spec?.devices?.find(({ name }) => name === device)?.taints ?? [])
}

/** The index of slices by their pools. */
export const byPool = ({ spec }: ResourceSlice): [string] => [poolKey(spec?.driver ?? '', spec?.pool.name ?? '')]

export const poolKey = (driver: string, pool: string): string => `${driver}/${pool}`
