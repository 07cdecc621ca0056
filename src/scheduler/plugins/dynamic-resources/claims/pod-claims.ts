/** The claims of a pod, and upstream's reasons why one of them is unusable. */
import { claimName } from '../../../../api/dra/pod-claims.ts'
import type { DeviceClass, ResourceClaim } from '../../../../client/kinds.ts'
import { controllerOf } from '../../../../client/objects/owners.ts'
import type { Lister, PodInfo } from '../../../framework/index.ts'
import type { ClaimTracker } from './claim-tracker.ts'

type Claims = { get(namespace: string, name: string): ResourceClaim | undefined }

/** Returns the claims that a pod needs, or the reason why one of them cannot be used. */
export function claimsOf(pod: PodInfo, claims: Claims): readonly ResourceClaim[] | string {
  const found: ResourceClaim[] = []
  for (const reference of pod.pod.spec?.resourceClaims ?? []) {
    const name = claimName(pod.pod, reference)
    if (name === undefined) return `pod "${pod.key}": ResourceClaim not created yet`
    // The template needed no claim.
    if (name === '') continue
    const claim = claims.get(pod.namespace, name)
    if (!claim) return `could not find ResourceClaim "${pod.namespace}/${name}"`
    if (claim.metadata.deletionTimestamp) return `resourceclaim "${name}" is being deleted`
    if (reference.resourceClaimTemplateName && controllerOf(claim)?.uid !== pod.pod.metadata.uid)
      return `ResourceClaim ${pod.namespace}/${name} was not created for pod ${pod.key} (pod is not owner)`
    found.push(claim)
  }
  return found
}

/** The API's limit of pods per claim. */
const maxReservations = 256

export const isReservedFor = ({ status }: ResourceClaim, { pod }: PodInfo): boolean =>
  status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid) ?? false

const canBeReserved = ({ status }: ResourceClaim): boolean => (status?.reservedFor?.length ?? 0) < maxReservations

/** Returns true if the claim is reserved for other pods. */
export const isUsedByOthers = ({ status }: ResourceClaim, { pod }: PodInfo): boolean =>
  status?.reservedFor?.some(({ uid }) => uid !== pod.metadata.uid) ?? false

/** The reason why a claim of the pod excludes all nodes. */
export function faultOf(
  claim: ResourceClaim,
  pod: PodInfo,
  tracker: Pick<ClaimTracker, 'isInFlight'>,
  classes: Pick<Lister<DeviceClass>, 'get'>,
): string | undefined {
  if (claim.status?.allocation)
    return !canBeReserved(claim) && !isReservedFor(claim, pod) ? 'resourceclaim in use' : undefined
  const { namespace, name } = claim.metadata
  if (tracker.isInFlight(claim)) return `resource claim ${namespace}/${name} is in the process of being allocated`
  for (const [request, className] of classNamesOf(claim))
    if (!classes.get('', className)) return `request ${request}: device class ${className} does not exist`
  return undefined
}

/** The names of a claim's requests, or of their alternatives, with the names of their classes. */
const classNamesOf = ({ spec }: ResourceClaim): (readonly [request: string, className: string])[] =>
  (spec.devices?.requests ?? []).flatMap(({ name, exactly, firstAvailable = [] }) =>
    exactly
      ? [[name, exactly.deviceClassName] as const]
      : firstAvailable.map((one) => [`${name}/${one.name}`, one.deviceClassName] as const),
  )
