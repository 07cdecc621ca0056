/** The names of a strategic merge patch's directives, and values without them. */
import { setOwn } from '../../../lib/own.ts'
import { isObject, type JsonObject } from '../../fields/json.ts'

export const patchDirective = '$patch'
export const retainKeys = '$retainKeys'
/** Prefix of `/` and the name of a list whose order is set. */
export const order = '$setElementOrder'
/** Prefix of `/` and the name of a list of scalars, some of which are deleted. */
export const deletion = '$deleteFromPrimitiveList'

/** Returns true if the list item has `$patch`. */
export const isDirective = (item: unknown): item is JsonObject => isObject(item) && Object.hasOwn(item, patchDirective)

/** Removes directives, items to delete and null members from a value that is new in the object. */
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
