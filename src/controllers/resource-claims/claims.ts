/**
 * Claims are given back by pods that have ended: reservations, what was allocated for them, and those that were made
 * for a pod.
 */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { resourceClaims as claims, type Pod, pods, type ResourceClaim } from '../../client/kinds.ts'
import { controllerOf } from '../../client/objects/owners.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { hasEnded } from '../pods/phase.ts'

/** Keeps a claim that has devices from going. */
const finalizer = 'resource.kubernetes.io/delete-protection'

type Reservation = NonNullable<NonNullable<ResourceClaim['status']>['reservedFor']>[number]

/** None of its containers runs, or ever will. */
export const isDone = (pod: Pod): boolean =>
  hasEnded(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec?.nodeName)

export async function settleClaim(namespace: string, name: string, context: ReconcileContext): Promise<void> {
  const { caches, client } = context
  let claim = caches.get(claims, namespace, name)
  if (!claim) return
  const reserved = claim.status?.reservedFor ?? []
  const held = await Promise.all(reserved.map((reservation) => isHeld(namespace, reservation, context)))
  const valid = reserved.filter((_, at) => held[at])
  const isProtected = claim.metadata.finalizers?.includes(finalizer) ?? false
  const isFreed =
    isProtected && valid.length === 0 && (reserved.length > 0 || claim.metadata.deletionTimestamp !== undefined)
  if (valid.length < reserved.length || (isFreed && claim.status?.allocation)) {
    const { allocation, ...rest } = claim.status ?? {}
    const status = { ...rest, ...(allocation && !isFreed && { allocation }), reservedFor: valid }
    const written = await client.updateStatus(claims, { ...claim, status }).catch(ignoreNotFound)
    if (!written) return
    claim = written
  }
  if (isFreed) {
    const finalizers = claim.metadata.finalizers?.filter((one) => one !== finalizer)
    await client.update(claims, { ...claim, metadata: { ...claim.metadata, finalizers } }).catch(ignoreNotFound)
  }
  if (valid.length === 0) await removeUnused(claim, context)
}

/** Whether a pod may still use what is reserved for it. */
async function isHeld(
  namespace: string,
  { apiGroup = '', resource, name, uid }: Reservation,
  context: ReconcileContext,
): Promise<boolean> {
  if (apiGroup !== '' || resource !== 'pods')
    throw new Error(`it is reserved for ${resource} ${name}: only pods can be looked after`)
  return mayRun(namespace, name, uid, context)
}

/**
 * Whether a pod is there and may run. One that the cache does not have, or has another one of that name for, is asked
 * for: it may be newer.
 */
async function mayRun(
  namespace: string,
  name: string,
  uid: string,
  { caches, client }: ReconcileContext,
): Promise<boolean> {
  const known = caches.get(pods, namespace, name)
  const pod = known?.metadata.uid === uid ? known : await client.find(pods, namespace, name)
  return pod?.metadata.uid === uid && !isDone(pod)
}

/** A claim that was made for a pod which will not run goes before its pod, which may stay for long. */
async function removeUnused(claim: ResourceClaim, context: ReconcileContext): Promise<void> {
  const { namespace = '', name = '', uid, deletionTimestamp } = claim.metadata
  const owner = controllerOf(claim)
  if (deletionTimestamp || owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return
  // Where there is none of that name, the claim goes with its owner.
  if (!context.caches.get(pods, namespace, owner.name) || (await mayRun(namespace, owner.name, owner.uid, context)))
    return
  await context.client.delete(claims, namespace, name, { uid }).catch(ignoreNotFound)
}
