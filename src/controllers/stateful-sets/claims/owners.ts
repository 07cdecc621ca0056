/**
 * Who owns the claims of a StatefulSet's pods, and so takes them along (`persistentVolumeClaimRetentionPolicy`,
 * KEP-1847): the set, if its deletion shall; a pod that is not wanted any more, if scaling down shall.
 */
import type { Pod, StatefulSet } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject, OwnerReference } from '../../../machinery/object.ts'
import { isWanted, podName } from '../identity.ts'

const refersTo = ({ metadata: { name, uid } }: KubeObject, kind: string, reference: OwnerReference): boolean =>
  reference.kind === kind && (reference.name === name || reference.uid === uid)

/**
 * The owners that a claim of an ordinal should have, where they are others than it has. `pod` is that of the ordinal,
 * if there is one. A claim that somebody else controls is left to them.
 */
export function claimOwners(
  present: readonly OwnerReference[],
  set: StatefulSet,
  pod: Pod | undefined,
  ordinal: number,
): readonly OwnerReference[] | undefined {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  const isOurs = (reference: OwnerReference): boolean =>
    refersTo(set, 'StatefulSet', reference) || (reference.kind === 'Pod' && reference.name === podName(set, ordinal))
  const others = present.filter((reference) => !isOurs(reference))
  const wanted = [...others]
  if (!others.some(({ controller }) => controller)) {
    const goesWithPod = whenScaled === 'Delete' && !isWanted(set, ordinal)
    if (goesWithPod && pod) wanted.push(controllerReference(pod))
    else if (!goesWithPod && whenDeleted === 'Delete') wanted.push(controllerReference(set))
  }
  return jsonEqual(wanted, present) ? undefined : wanted
}

/** Whether a claim is owned by a pod of that name that is not `pod`: it goes with the one that was there before. */
export const isStale = (owners: readonly OwnerReference[], name: string, pod: Pod | undefined): boolean =>
  owners.some((reference) => reference.kind === 'Pod' && reference.name === name && reference.uid !== pod?.metadata.uid)
