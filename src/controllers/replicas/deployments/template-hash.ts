/** The hash of a pod template, used in names of ReplicaSets and the label `pod-template-hash`. */

import type { Deployment } from '../../../client/kinds.ts'
import { writeJson } from '../../../lib/exact-json.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { sortMembers } from '../../../machinery/fields/json.ts'
import { fnv1aHash } from '../../safe-hash.ts'

type Template = NonNullable<Deployment['spec']>['template']

export const hashLabel = 'pod-template-hash'

/**
 * FNV-1a of the template with sorted members, so that it does not depend on the writer. `collisions` changes the hash
 * if another template has the name.
 */
export function templateHash(template: Template, collisions: number | undefined): string {
  return fnv1aHash(writeJson(sortMembers(template)) + (collisions === undefined ? '' : `#${collisions}`))
}

/** Returns true if two templates are equal except for the hash label. */
export const isSameTemplate = (a: Template | undefined, b: Template | undefined): boolean =>
  semanticallyEqual(withoutHash(a), withoutHash(b))

function withoutHash(template: Template | undefined): Template | undefined {
  if (template?.metadata?.labels?.[hashLabel] === undefined) return template
  const { [hashLabel]: _, ...labels } = template.metadata.labels
  return { ...template, metadata: { ...template.metadata, labels } }
}
