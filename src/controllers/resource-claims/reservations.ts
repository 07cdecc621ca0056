/** Reserves the claims of pods that were bound without the scheduler. */
import { claimName } from '../../api/dra/pod-claims.ts'
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { resourceClaims as claims, type Pod, type ResourceClaim } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { isControlledBy } from '../pods/owners/owner.ts'

/** Maximum number of pods that share a claim. */
const maxReservations = 256

/** Rejects if a claim was not made for the pod. */
export async function reserveClaims(pod: Pod, { caches, client }: ReconcileContext): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata
  for (const podClaim of pod.spec?.resourceClaims ?? []) {
    const claim = caches.get(claims, namespace, claimName(pod, podClaim) ?? '')
    if (!claim) return
    if (podClaim.resourceClaimTemplateName && !isControlledBy(claim, pod))
      throw new Error(`claim ${claim.metadata.name} was not made for pod ${namespace}/${name}`)
    if (canReserve(claim, uid)) {
      const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: 'pods', name, uid }]
      await client.updateStatus(claims, { ...claim, status: { ...claim.status, reservedFor } }).catch(ignoreNotFound)
    }
  }
}

function canReserve({ status }: ResourceClaim, uid: string): boolean {
  const reserved = status?.reservedFor ?? []
  return (
    status?.allocation !== undefined &&
    reserved.length < maxReservations &&
    !reserved.some((reservation) => reservation.uid === uid)
  )
}
