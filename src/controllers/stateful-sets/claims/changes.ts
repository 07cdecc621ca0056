/** What has to be done about the claims of one pod. Decides only. */
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../client/kinds.ts'
import { ordinalOf } from '../identity.ts'
import { claimFrom, claimName, claimTemplates } from './claim.ts'
import { claimOwners } from './owners.ts'

export interface ClaimChanges {
  readonly missing: readonly PersistentVolumeClaim[]
  /** Claims as they should be, for those whose owners are others than they should be. */
  readonly changed: readonly PersistentVolumeClaim[]
  /** Names of those that are there, but are being deleted. */
  readonly going: readonly string[]
}

/** The claim of that name, in the set's namespace. */
export type FindClaim = (name: string) => PersistentVolumeClaim | undefined

/** `pod` may be one that is only about to be: then it has no uid, and owns nothing. */
export function claimChanges(set: StatefulSet, pod: Pod, find: FindClaim): ClaimChanges {
  const missing: PersistentVolumeClaim[] = []
  const changed: PersistentVolumeClaim[] = []
  const going: string[] = []
  const ordinal = ordinalOf(set, pod) ?? -1
  for (const template of claimTemplates(set)) {
    const name = claimName(set, template, ordinal)
    const claim = find(name)
    if (!claim) missing.push(claimFrom(set, template, ordinal))
    else if (claim.metadata.deletionTimestamp) going.push(name)
    else {
      const owners = claimOwners(claim.metadata.ownerReferences ?? [], set, pod.metadata.uid ? pod : undefined, ordinal)
      if (owners) changed.push({ ...claim, metadata: { ...claim.metadata, ownerReferences: [...owners] } })
    }
  }
  return { missing, changed, going }
}
