/** Writes to claims what was decided about them: devices, and the pods that use them. */
import { keyOf } from '../../../../client/informers/object-store.ts'
import { type ResourceClaim, resourceClaims } from '../../../../client/kinds.ts'
import { isConflict } from '../../../../client/rest/api-errors.ts'
import type { RestClient } from '../../../../client/rest/rest-client.ts'
import type { Handle, PodInfo } from '../../../framework/index.ts'
import type { Allocation } from '../allocation/devices.ts'
import { isReservedFor } from './pod-claims.ts'

/** Keeps a claim that has devices from going. */
const finalizer = 'resource.kubernetes.io/delete-protection'
const mostAttempts = 5

/**
 * The claim with its devices (none: it has them) and with the pod among its users, as it was written. Throws an Error
 * where somebody else was faster, or what the API server says.
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
      if (!isConflict(error) || attempt === mostAttempts) throw error
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
    // The status alone cannot say so: this is a write of its own, before the devices are its.
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
  // Since when its devices may take their time to become ready.
  const allocationTimestamp = `${new Date(now).toISOString().slice(0, 19)}Z`
  const timed: Allocation = { allocationTimestamp, ...(allocation ?? current.status?.allocation) }
  return client.updateStatus(resourceClaims, {
    ...current,
    status: { ...current.status, allocation: timed, reservedFor },
  })
}

/** The claim may go from now on, though it has devices. */
export const withoutProtection = (claim: ResourceClaim): ResourceClaim => ({
  ...claim,
  metadata: { ...claim.metadata, finalizers: claim.metadata.finalizers?.filter((one) => one !== finalizer) },
})

/** The pod uses the claim no longer. */
export async function giveBackReservation(
  { metadata }: ResourceClaim,
  { pod }: PodInfo,
  client: RestClient,
): Promise<void> {
  const { namespace = '', name = '', uid } = metadata
  const patch = { metadata: { uid }, status: { reservedFor: [{ $patch: 'delete', uid: pod.metadata.uid }] } }
  await client.patch(resourceClaims, namespace, name, patch, 'strategic', 'status')
}

/** Nobody has the claim's devices any longer. */
export async function deallocate(claim: ResourceClaim, client: RestClient): Promise<ResourceClaim> {
  const { allocation: _, reservedFor: __, devices: ___, ...status } = claim.status ?? {}
  return client.updateStatus(resourceClaims, { ...claim, status })
}
