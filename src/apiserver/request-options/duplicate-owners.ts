/** Removes duplicate owner references from a body, with a warning to the client. */
import type { ObjectMeta, OwnerReference } from '../../machinery/object.ts'

/**
 * Removes duplicates from `metadata`; returns a warning, with Kubernetes' text, if there were any. `when` is set for
 * references that did not come with the body.
 */
export function removeDuplicateOwners(
  metadata: ObjectMeta,
  when?: 'after mutating admission happens',
): string | undefined {
  const references = metadata.ownerReferences
  if (!references || references.length < 2) return undefined
  const unique = new Map<string, OwnerReference>()
  const uids: string[] = []
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
    if (unique.has(key)) uids.push(uid)
    else unique.set(key, reference)
  }
  if (uids.length === 0) return undefined
  metadata.ownerReferences = [...unique.values()]
  return (
    `.metadata.ownerReferences contains duplicate entries${when ? ` ${when}` : ''}; API server dedups owner ` +
    'references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate ' +
    `UID(s) observed: ${uids.join(', ')}`
  )
}
