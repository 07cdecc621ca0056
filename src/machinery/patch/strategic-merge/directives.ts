/** The names of a strategic merge patch's directives, and values without them. */
import { setOwn } from '../../../lib/own.ts'
import { isObject, type JsonObject } from '../../fields/json.ts'

export const patchDirective = '$patch'
export const retainKeys = '$retainKeys'
/** Before `/` and the name of a list whose order is set. */
export const order = '$setElementOrder'
/** Before `/` and the name of a list of scalars of which some are deleted. */
export const deletion = '$deleteFromPrimitiveList'

/** Whether the list item carries `$patch`. */
export const isDirective = (item: unknown): item is JsonObject => isObject(item) && Object.hasOwn(item, patchDirective)

/** A value that the object gets new: without directives, items to delete and null members. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((item) => !(isDirective(item) && item[patchDirective] !== 'merge')).map(withoutDirectives)
  if (!isObject(value)) return value
  const out: JsonObject = {}
  for (const name of Object.keys(value)) {
    if (
      value[name] === null ||
      name === patchDirective ||
      name === retainKeys ||
      name.startsWith(order) ||
      name.startsWith(deletion)
    )
      continue
    setOwn(out, name, withoutDirectives(value[name]))
  }
  return out
}
