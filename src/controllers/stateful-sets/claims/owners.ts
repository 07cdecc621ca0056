/**
 * The owners of a StatefulSet's claims, whose deletion deletes them (`persistentVolumeClaimRetentionPolicy`, KEP-1847):
 * the set with `whenDeleted`, a surplus pod with `whenScaled`.
 */
import type { Pod, StatefulSet } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject, OwnerReference } from '../../../machinery/object.ts'
import { isDesired, podName } from '../identity.ts'

const refersTo = ({ metadata: { name, uid } }: KubeObject, kind: string, reference: OwnerReference): boolean =>
  reference.kind === kind && (reference.name === name || reference.uid === uid)

/**
 * Returns the owners that the claim of an ordinal must get; undefined if they are correct or the claim has another
 * controller. `pod` is the pod of the ordinal, if it exists.
 */
export function claimOwners(
  existing: readonly OwnerReference[],
  set: StatefulSet,
  pod: Pod | undefined,
  ordinal: number,
): readonly OwnerReference[] | undefined {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  const isOurs = (reference: OwnerReference): boolean =>
    refersTo(set, 'StatefulSet', reference) || (reference.kind === 'Pod' && reference.name === podName(set, ordinal))
  const others = existing.filter((reference) => !isOurs(reference))
  const desired = [...others]
  if (!others.some(({ controller }) => controller)) {
    const isDeletedWithPod = whenScaled === 'Delete' && !isDesired(set, ordinal)
    if (isDeletedWithPod && pod) desired.push(controllerReference(pod))
    else if (!isDeletedWithPod && whenDeleted === 'Delete') desired.push(controllerReference(set))
  }
  return jsonEqual(desired, existing) ? undefined : desired
}

/** Returns true if a previous pod of that name owns the claim, so that it will be deleted. */
export const isStale = (owners: readonly OwnerReference[], name: string, pod: Pod | undefined): boolean =>
  owners.some((reference) => reference.kind === 'Pod' && reference.name === name && reference.uid !== pod?.metadata.uid)
