/** Releases claims of ended pods: removes reservations and allocations, and deletes generated claims. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { resourceClaims as claims, type Pod, pods, type ResourceClaim } from '../../client/kinds.ts'
import { controllerOf } from '../../client/objects/owners.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { hasEnded } from '../pods/phase.ts'

/** Protects a claim with allocated devices from deletion. */
const finalizer = 'resource.kubernetes.io/delete-protection'

type Reservation = NonNullable<NonNullable<ResourceClaim['status']>['reservedFor']>[number]

/** Returns true if no container of the pod runs or will run. */
export const isDone = (pod: Pod): boolean =>
  hasEnded(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec?.nodeName)

export async function syncClaim(namespace: string, name: string, context: ReconcileContext): Promise<void> {
  const { caches, client } = context
  let claim = caches.get(claims, namespace, name)
  if (!claim) return
  const reserved = claim.status?.reservedFor ?? []
  const validity = await Promise.all(reserved.map((reservation) => isReservationValid(namespace, reservation, context)))
  const valid = reserved.filter((_, at) => validity[at])
  const isProtected = claim.metadata.finalizers?.includes(finalizer) ?? false
  const isReleasable =
    isProtected && valid.length === 0 && (reserved.length > 0 || claim.metadata.deletionTimestamp !== undefined)
  if (valid.length < reserved.length || (isReleasable && claim.status?.allocation)) {
    const { allocation, ...rest } = claim.status ?? {}
    const status = { ...rest, ...(allocation && !isReleasable && { allocation }), reservedFor: valid }
    const written = await client.updateStatus(claims, { ...claim, status }).catch(ignoreNotFound)
    if (!written) return
    claim = written
  }
  if (isReleasable) {
    const finalizers = claim.metadata.finalizers?.filter((one) => one !== finalizer)
    await client.update(claims, { ...claim, metadata: { ...claim.metadata, finalizers } }).catch(ignoreNotFound)
  }
  if (valid.length === 0) await deleteUnused(claim, context)
}

/** Returns true if the pod may still use the claim. */
async function isReservationValid(
  namespace: string,
  { apiGroup = '', resource, name, uid }: Reservation,
  context: ReconcileContext,
): Promise<boolean> {
  if (apiGroup !== '' || resource !== 'pods')
    throw new Error(`it is reserved for ${resource} ${name}: only pods are supported`)
  return canRun(namespace, name, uid, context)
}

/** Returns true if a pod exists and may run. Reads it from the server if the cache lacks it, as it may be newer. */
async function canRun(
  namespace: string,
  name: string,
  uid: string,
  { caches, client }: ReconcileContext,
): Promise<boolean> {
  const cached = caches.get(pods, namespace, name)
  const pod = cached?.metadata.uid === uid ? cached : await client.find(pods, namespace, name)
  return pod?.metadata.uid === uid && !isDone(pod)
}

/** Deletes a generated claim of a pod that will not run, as the pod may remain for long. */
async function deleteUnused(claim: ResourceClaim, context: ReconcileContext): Promise<void> {
  const { namespace = '', name = '', uid, deletionTimestamp } = claim.metadata
  const owner = controllerOf(claim)
  if (deletionTimestamp || owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return
  // If no pod of that name exists, the garbage collector deletes the claim.
  if (!context.caches.get(pods, namespace, owner.name) || (await canRun(namespace, owner.name, owner.uid, context)))
    return
  await context.client.delete(claims, namespace, name, { uid }).catch(ignoreNotFound)
}
