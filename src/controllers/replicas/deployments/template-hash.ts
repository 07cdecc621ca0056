/** The hash of a pod template, as names of ReplicaSets and the label `pod-template-hash` carry it. */

import type { Deployment } from '../../../client/kinds.ts'
import { writeJson } from '../../../lib/exact-json.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { sortMembers } from '../../../machinery/fields/json.ts'
import { fnv1aHash } from '../../safe-hash.ts'

type Template = NonNullable<Deployment['spec']>['template']

export const hashLabel = 'pod-template-hash'

/**
 * FNV-1a of the template with its members in order, so that it is the same whoever wrote it and whenever; `collisions`
 * makes it another one when the name is taken by another template.
 */
export function templateHash(template: Template, collisions: number | undefined): string {
  return fnv1aHash(writeJson(sortMembers(template)) + (collisions === undefined ? '' : `#${collisions}`))
}

/** Whether two templates are the same but for the hash in their labels. */
export const sameTemplate = (a: Template | undefined, b: Template | undefined): boolean =>
  semanticallyEqual(withoutHash(a), withoutHash(b))

function withoutHash(template: Template | undefined): Template | undefined {
  if (template?.metadata?.labels?.[hashLabel] === undefined) return template
  const { [hashLabel]: _, ...labels } = template.metadata.labels
  return { ...template, metadata: { ...template.metadata, labels } }
}
