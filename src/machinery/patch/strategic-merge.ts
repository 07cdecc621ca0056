/**
 * Strategic merge patch: a merge patch that uses the schema. Lists with a merge key are merged item by item, and
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/x`, `$deleteFromPrimitiveList/x`) control the merge.
 */
import { isObject, type JsonObject } from '../fields/json.ts'
import type { StructType } from '../schema.ts'
import { badRequest } from '../status-error.ts'
import { jsonKind } from './merge-patch.ts'
import { mergeMembers } from './strategic-merge/merge.ts'

/**
 * Returns the object with the patch applied. Does not change either. Does not validate values against the schema.
 * Throws 400 if the patch or a directive is malformed, 422 for lists of lists, 500 for other misuse, as upstream.
 */
export function strategicMergePatch<T extends object>(object: T, patch: unknown, type: StructType): T {
  if (!isObject(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    )
  return mergeMembers(object as JsonObject, patch, type) as T
}
