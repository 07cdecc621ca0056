/** Decides how the claims of one pod must change. Writes nothing. */
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../client/kinds.ts'
import { ordinalOf } from '../identity.ts'
import { claimFrom, claimName, claimTemplates } from './claim.ts'
import { claimOwners } from './owners.ts'

export interface ClaimChanges {
  readonly missing: readonly PersistentVolumeClaim[]
  /** Claims with corrected owners. */
  readonly changed: readonly PersistentVolumeClaim[]
  /** Names of claims that are being deleted. */
  readonly terminating: readonly string[]
}

/** Looks up a claim by name in the set's namespace. */
export type FindClaim = (name: string) => PersistentVolumeClaim | undefined

/** `pod` may not exist yet: then it has no uid and owns nothing. */
export function claimChanges(set: StatefulSet, pod: Pod, find: FindClaim): ClaimChanges {
  const missing: PersistentVolumeClaim[] = []
  const changed: PersistentVolumeClaim[] = []
  const terminating: string[] = []
  const ordinal = ordinalOf(set, pod) ?? -1
  for (const template of claimTemplates(set)) {
    const name = claimName(set, template, ordinal)
    const claim = find(name)
    if (!claim) missing.push(claimFrom(set, template, ordinal))
    else if (claim.metadata.deletionTimestamp) terminating.push(name)
    else {
      const owners = claimOwners(claim.metadata.ownerReferences ?? [], set, pod.metadata.uid ? pod : undefined, ordinal)
      if (owners) changed.push({ ...claim, metadata: { ...claim.metadata, ownerReferences: [...owners] } })
    }
  }
  return { missing, changed, terminating }
}
