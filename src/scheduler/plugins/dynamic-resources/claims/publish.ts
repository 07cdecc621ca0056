/** Writes allocations and reservations to claims. */
import { keyOf } from '../../../../client/informers/object-store.ts'
import { type ResourceClaim, resourceClaims } from '../../../../client/kinds.ts'
import { isConflict } from '../../../../client/rest/api-errors.ts'
import type { RestClient } from '../../../../client/rest/rest-client.ts'
import type { Handle, PodInfo } from '../../../framework/index.ts'
import type { Allocation } from '../allocation/devices.ts'
import { isReservedFor } from './pod-claims.ts'

/** Protects an allocated claim from deletion. */
const finalizer = 'resource.kubernetes.io/delete-protection'
const maxAttempts = 5

/**
 * Writes the claim with its allocation (undefined: it has one) and with the pod among its users. Returns the written
 * claim. Throws an Error if it was changed by others, or the error of the API server.
 */
export async function publish(
  claim: ResourceClaim,
  allocation: Allocation | undefined,
  pod: PodInfo,
  { client, now }: Pick<Handle, 'client' | 'now'>,
): Promise<ResourceClaim> {
  const { namespace = '', name = '' } = claim.metadata
  let current = claim
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(current, allocation, pod, client, now())
    } catch (error) {
      if (!isConflict(error) || attempt === maxAttempts) throw error
      current = await client.get(resourceClaims, namespace, name)
      if (current.metadata.uid !== claim.metadata.uid || current.metadata.deletionTimestamp)
        throw new Error(`claim ${keyOf(claim)} got deleted in the meantime`, { cause: error })
    }
  }
}

async function write(
  claim: ResourceClaim,
  allocation: Allocation | undefined,
  pod: PodInfo,
  client: RestClient,
  now: number,
): Promise<ResourceClaim> {
  let current = claim
  if (allocation) {
    if (current.status?.allocation) throw new Error(`claim ${keyOf(claim)} got allocated elsewhere in the meantime`)
    const finalizers = current.metadata.finalizers ?? []
    // The finalizer is not part of the status, so it takes a write of its own, before the allocation.
    if (!finalizers.includes(finalizer))
      current = await client.update(resourceClaims, {
        ...current,
        metadata: { ...current.metadata, finalizers: [...finalizers, finalizer] },
      })
  } else if (!current.status?.allocation)
    throw new Error(`claim ${keyOf(claim)} got deallocated elsewhere in the meantime`)
  if (isReservedFor(current, pod)) return current
  const { name, uid = '' } = pod.pod.metadata
  const reservedFor = [...(current.status?.reservedFor ?? []), { resource: 'pods', name: name ?? '', uid }]
  // The timeout for binding conditions starts at this time.
  const allocationTimestamp = `${new Date(now).toISOString().slice(0, 19)}Z`
  const timed: Allocation = { allocationTimestamp, ...(allocation ?? current.status?.allocation) }
  return client.updateStatus(resourceClaims, {
    ...current,
    status: { ...current.status, allocation: timed, reservedFor },
  })
}

/** The claim without the finalizer, so that it can be deleted while it is allocated. */
export const withoutProtection = (claim: ResourceClaim): ResourceClaim => ({
  ...claim,
  metadata: { ...claim.metadata, finalizers: claim.metadata.finalizers?.filter((one) => one !== finalizer) },
})

/** Removes the pod from the users of the claim. */
export async function removeReservation(
  { metadata }: ResourceClaim,
  { pod }: PodInfo,
  client: RestClient,
): Promise<void> {
  const { namespace = '', name = '', uid } = metadata
  const patch = { metadata: { uid }, status: { reservedFor: [{ $patch: 'delete', uid: pod.metadata.uid }] } }
  await client.patch(resourceClaims, namespace, name, patch, 'strategic', 'status')
}

/** Removes the claim's allocation and users. */
export async function deallocate(claim: ResourceClaim, client: RestClient): Promise<ResourceClaim> {
  const { allocation: _, reservedFor: __, devices: ___, ...status } = claim.status ?? {}
  return client.updateStatus(resourceClaims, { ...claim, status })
}
