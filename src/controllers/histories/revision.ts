/** ControllerRevisions: each holds a former template of a set as a patch that restores it. */
import { schemaType } from '../../api/schema/index.ts'
import type { ControllerRevision, DaemonSet, StatefulSet } from '../../client/kinds.ts'
import { controllerReference } from '../../client/objects/owners.ts'
import { goJson, type JsonObject, jsonEqual, sortMembers } from '../../machinery/fields/json.ts'
import { strategicMergePatch } from '../../machinery/patch/strategic-merge.ts'
import { fnv1Hash } from '../safe-hash.ts'

/** Kinds whose template has revisions. */
export type RevisedSet = StatefulSet | DaemonSet

export type Template = NonNullable<RevisedSet['spec']>['template']

/** Maximum length of the set's name within a revision's name of at most 253 characters. */
const longestPrefix = 223

/** The patch that replaces a template. Its members are sorted: `kubectl rollout undo` compares the serialized text. */
export const templatePatch = (template: Template): JsonObject =>
  sortMembers({ spec: { template: { ...template, $patch: 'replace' } } }) as JsonObject

/** Returns true if a revision holds this template. */
export const isRevisionOf = ({ data }: ControllerRevision, template: Template): boolean =>
  jsonEqual(data, templatePatch(template))

export interface RevisionOptions {
  /** The label that holds the hash; each kind has its own. */
  readonly hashLabel: string
  readonly number: number
  /** Number of name collisions so far: part of the hash, so that the next name differs. */
  readonly collisions: number
}

/** Returns the revision of the set's current template. */
export function revisionOf(set: RevisedSet, { hashLabel, number, collisions }: RevisionOptions): ControllerRevision {
  const { name = '', namespace, annotations } = set.metadata
  const template = set.spec?.template ?? {}
  const data = templatePatch(template)
  const hash = fnv1Hash(`${goJson(data)}${collisions}`)
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name.slice(0, longestPrefix)}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations && { annotations }),
      ownerReferences: [controllerReference(set)],
    },
    data,
    revision: number,
  }
}

/** Returns the set's template at a revision. Throws a StatusError if the revision is not a patch of such a set. */
export function templateAt(set: RevisedSet, revision: ControllerRevision): Template {
  const template = set.spec?.template ?? {}
  // Usually it is the current template.
  if (isRevisionOf(revision, template)) return template
  const type = schemaType({ group: 'apps', version: 'v1', kind: set.kind })
  return strategicMergePatch({ spec: set.spec }, revision.data, type).spec?.template ?? {}
}
