/** The claims of a pod, and why they are not there yet, in upstream's words. */
import { claimName } from '../../../../api/dra/pod-claims.ts'
import type { ResourceClaim } from '../../../../client/kinds.ts'
import { controllerOf } from '../../../../client/objects/owners.ts'
import type { PodInfo } from '../../../framework/index.ts'

type Claims = { get(namespace: string, name: string): ResourceClaim | undefined }

/** The claims that a pod needs; a text where one of them cannot be used. */
export function claimsOf(pod: PodInfo, claims: Claims): readonly ResourceClaim[] | string {
  const found: ResourceClaim[] = []
  for (const reference of pod.pod.spec?.resourceClaims ?? []) {
    const name = claimName(pod.pod, reference)
    if (name === undefined) return `pod "${pod.key}": ResourceClaim not created yet`
    // None is needed.
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

/** More pods than this no claim can have. */
const mostReservations = 256

export const isReservedFor = ({ status }: ResourceClaim, { pod }: PodInfo): boolean =>
  status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid) ?? false

export const mayBeReserved = ({ status }: ResourceClaim): boolean =>
  (status?.reservedFor?.length ?? 0) < mostReservations
