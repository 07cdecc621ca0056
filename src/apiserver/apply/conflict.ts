/** Conflicts of server-side apply: fields that others own and that would change. */
import { difference, isEmpty, pathsOf } from '../../machinery/fields/field-set.ts'
import { pathText } from '../../machinery/fields/path-element.ts'
import type { FieldsV1 } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Manager } from './managed-fields/managed.ts'

/** Conflicting fields by the identity of their owner. */
export type Conflicts = ReadonlyMap<string, { readonly manager: Manager; readonly fields: FieldsV1 }>

/** The conflicts without those on `allowed` fields. */
export function conflictsOutside(conflicts: Conflicts, allowed: FieldsV1): Conflicts {
  return new Map(
    [...conflicts]
      .map(([identity, { manager, fields }]) => [identity, { manager, fields: difference(fields, allowed) }] as const)
      .filter(([, { fields }]) => !isEmpty(fields)),
  )
}

/** `"name"`, with its subresource, and its version if it made updates. */
function managerText({ name, operation, apiVersion, subresource }: Manager): string {
  const text = JSON.stringify(name) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : '')
  return operation === 'Apply' ? text : `${text} using ${apiVersion}`
}

/** 409 with one cause per field, worded as upstream: managers in order, leaves before nested fields. */
export function conflictError(conflicts: Conflicts): StatusError {
  const managers = [...conflicts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { manager, fields }]) => ({ text: managerText(manager), paths: [...pathsOf(fields)].map(pathText) }))
  const causes = managers.flatMap(({ text, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${text}`, field })),
  )
  const list = managers.flatMap(({ text, paths }) => [`conflicts with ${text}:`, ...paths.map((path) => `- ${path}`)])
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`
      : `Apply failed with ${causes.length} conflicts: ${list.join('\n')}`
  return new StatusError(409, 'Conflict', message, { causes })
}
