/** Computes the eviction time of a pod from `NoExecute` taints of its devices (KEP-5055). */
import type { Pod, ResourceClaim, ResourceSlice } from '../../../client/kinds.ts'
import { tolerates } from '../../../machinery/selectors/toleration.ts'
import { isControlledBy } from '../../pods/owners/owner.ts'

type Device = NonNullable<NonNullable<ResourceSlice['spec']>['devices']>[number]
export type DeviceTaint = NonNullable<Device['taints']>[number]

/** In ms since the epoch; Infinity without untolerated taints. */
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
        since + toleratedSeconds(tolerations.filter((toleration) => tolerates(toleration, taint))) * 1000,
      )
    }
  }
  return soonest
}

/** The time in seconds that tolerations allow: unlimited if one of them is, else the shortest. */
function toleratedSeconds(tolerations: readonly { readonly tolerationSeconds?: number }[]): number {
  if (tolerations.length === 0) return 0
  const ends = tolerations.flatMap(({ tolerationSeconds }) =>
    tolerationSeconds === undefined ? [] : Number(tolerationSeconds),
  )
  return ends.length < tolerations.length ? Number.POSITIVE_INFINITY : Math.max(0, Math.min(...ends))
}

/** Returns true if a claim is reserved for this pod by uid and is referenced by name or generated for it. */
export function isReservedFor(claim: ResourceClaim, pod: Pod): boolean {
  const isNamed = pod.spec?.resourceClaims?.some(({ resourceClaimName }) => resourceClaimName === claim.metadata.name)
  return (
    (isNamed || isControlledBy(claim, pod)) &&
    (claim.status?.reservedFor ?? []).some(({ uid }) => uid === pod.metadata.uid)
  )
}

/** The taints of a device in the newest generation of its pool's slices. */
export function taintsOfDevice(slices: Iterable<ResourceSlice>, device: string): readonly DeviceTaint[] {
  const all = [...slices]
  const generationOf = ({ spec }: ResourceSlice): number => spec?.pool.generation ?? 0
  const current = all.filter((slice) => !all.some((other) => generationOf(other) > generationOf(slice)))
  return current.flatMap(({ spec }) => spec?.devices?.find(({ name }) => name === device)?.taints ?? [])
}

/** Index function: slices by pool. */
export const byPool = ({ spec }: ResourceSlice): [string] => [poolKey(spec?.driver ?? '', spec?.pool.name ?? '')]

export const poolKey = (driver: string, pool: string): string => `${driver}/${pool}`
