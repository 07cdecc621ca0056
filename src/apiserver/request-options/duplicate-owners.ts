/** Owner references that stand twice in a body: one is enough, and whoever sent them is warned. */
import type { ObjectMeta, OwnerReference } from '../../machinery/object.ts'

/**
 * Takes equal references out of `metadata`; a warning, in Kubernetes' words, if there were any. `when` they came in:
 * not with the body.
 */
export function removeDuplicateOwners(
  metadata: ObjectMeta,
  when?: 'after mutating admission happens',
): string | undefined {
  const references = metadata.ownerReferences
  if (!references || references.length < 2) return undefined
  const kept = new Map<string, OwnerReference>()
  const uids: string[] = []
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
    if (kept.has(key)) uids.push(uid)
    else kept.set(key, reference)
  }
  if (uids.length === 0) return undefined
  metadata.ownerReferences = [...kept.values()]
  return (
    `.metadata.ownerReferences contains duplicate entries${when ? ` ${when}` : ''}; API server dedups owner ` +
    'references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate ' +
    `UID(s) observed: ${uids.join(', ')}`
  )
}
