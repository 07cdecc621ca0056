/** Revisions: what a set's template was at a time, as a patch that brings it back. */
import { schemaType } from '../../api/schema/index.ts'
import type { ControllerRevision, DaemonSet, StatefulSet } from '../../client/kinds.ts'
import { controllerReference } from '../../client/objects/owners.ts'
import { goJson, type JsonObject, jsonEqual, sortMembers } from '../../machinery/fields/json.ts'
import { strategicMergePatch } from '../../machinery/patch/strategic-merge.ts'
import { fnv1Hash } from '../safe-hash.ts'

/** Those who keep revisions of their templates. */
export type RevisedSet = StatefulSet | DaemonSet

export type Template = NonNullable<RevisedSet['spec']>['template']

/** Names are at most 253 characters long; this many are left for that of the set. */
const longestPrefix = 223

/**
 * The patch that puts a template in the place of another. Its members are in order: `kubectl rollout undo` compares
 * texts.
 */
export const templatePatch = (template: Template): JsonObject =>
  sortMembers({ spec: { template: { ...template, $patch: 'replace' } } }) as JsonObject

/** Whether a revision is of this template. */
export const isOf = ({ data }: ControllerRevision, template: Template): boolean =>
  jsonEqual(data, templatePatch(template))

export interface RevisionTerms {
  /** The label that tells the hash: each kind has its own. */
  readonly hashLabel: string
  readonly number: number
  /** How many names were taken before: part of the hash, so that the next name is another. */
  readonly collisions: number
}

/** The revision of the set's template as it is. */
export function revisionOf(set: RevisedSet, { hashLabel, number, collisions }: RevisionTerms): ControllerRevision {
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

/** The set's template as it was at a revision. Throws a StatusError for a revision that is no patch of such a set. */
export function templateAt(set: RevisedSet, revision: ControllerRevision): Template {
  const template = set.spec?.template ?? {}
  // Nearly always it is the one that the set has.
  if (isOf(revision, template)) return template
  const type = schemaType({ group: 'apps', version: 'v1', kind: set.kind })
  return strategicMergePatch({ spec: set.spec }, revision.data, type).spec?.template ?? {}
}
