/** The claims of a pod, or upstream's reason why one of them is unusable. */
import { claimName } from '../../../../api/dra/pod-claims.ts'
import type { ResourceClaim } from '../../../../client/kinds.ts'
import { controllerOf } from '../../../../client/objects/owners.ts'
import type { PodInfo } from '../../../framework/index.ts'

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

export const canBeReserved = ({ status }: ResourceClaim): boolean =>
  (status?.reservedFor?.length ?? 0) < maxReservations
