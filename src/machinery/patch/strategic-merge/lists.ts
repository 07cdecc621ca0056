/**
 * Merges lists by key, or as sets of scalars. In the result, items of the patch retain the patch's order and those of
 * the server the server's order; where nothing relates the two, the patch's items are first.
 */

import { isObject, type JsonObject } from '../../fields/json.ts'
import { goValue } from '../../fields/validate-typed.ts'
import { badRequest, internal, StatusError } from '../../status-error.ts'
import { isDirective, patchDirective, withoutDirectives } from './directives.ts'

type List = readonly unknown[]
type MergeItems = (before: JsonObject, patch: JsonObject) => JsonObject

/** Returns the identity of an item: the value of the merge key, or the scalar itself. */
function identity(item: unknown, mergeKey: string): unknown {
  if (!mergeKey) return item
  if (!isObject(item))
    throw internal(
      `expected a map[string]interface {}, but received a ${Array.isArray(item) ? '[]interface {}' : typeof item}`,
    )
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
  return item[mergeKey]
}

const noMergeKey = (item: JsonObject, mergeKey: string): StatusError =>
  internal(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`)

const kindOf = (item: unknown): string => (Array.isArray(item) ? 'list' : isObject(item) ? 'map' : typeof item)

/** Returns the kind of all items. Throws if they are of several kinds, or lists. */
function kindOfItems(...lists: readonly List[]): string {
  let kind: string | undefined
  for (const item of lists.flat()) {
    const other = kindOf(item)
    if (other === 'list')
      throw new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
    if (kind !== undefined && kind !== other) throw internal(`list element types are not identical: ${goValue(lists)}`)
    kind = other
  }
  return kind ?? 'string'
}

/** Merges the patch into the list. With `deletes`, removes the scalars in the patch from the list. */
export function mergeLists(
  before: List,
  patch: List,
  mergeKey: string,
  deletes: boolean,
  mergeItems: MergeItems,
): List {
  if (before.length === 0 && patch.length === 0) return before
  if (kindOfItems(before, patch) !== 'map') {
    if (deletes) {
      const unwanted = new Set(patch)
      return before.filter((item) => !unwanted.has(item))
    }
    return arrange([...new Set([...before, ...patch])], patch, before, '')
  }
  if (!mergeKey) throw internal('cannot merge lists without merge key for type struct')
  const { remaining, given } = afterDirectives(
    before as readonly JsonObject[],
    patch as readonly JsonObject[],
    mergeKey,
  )
  const merged = [...remaining]
  const known = new Map<unknown, number>()
  const recordPlace = (item: JsonObject, place: number): void =>
    void (known.has(item[mergeKey]) || known.set(item[mergeKey], place))
  merged.forEach(recordPlace)
  for (const item of given) {
    const place = known.get(identity(item, mergeKey))
    if (place === undefined) {
      const added = withoutDirectives(item) as JsonObject
      recordPlace(added, merged.length)
      merged.push(added)
    } else merged[place] = mergeItems(merged[place]!, item)
  }
  return arrange(merged, given, remaining, mergeKey)
}

/** Applies the items that are directives. Returns the remaining list, and the patch without directives. */
function afterDirectives(
  before: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { remaining: readonly JsonObject[]; given: readonly JsonObject[] } {
  const deleted = new Set<unknown>()
  let replace = false
  const given: JsonObject[] = []
  for (const item of patch) {
    if (!isDirective(item)) {
      given.push(item)
      continue
    }
    switch (item[patchDirective]) {
      case 'delete': {
        deleted.add(identity(item, mergeKey))
        break
      }
      case 'replace':
        replace = true
        break
      case 'merge':
        throw internal('merging lists cannot yet be specified in the patch')
      default:
        throw internal(`unknown patch type: ${goValue(item[patchDirective])} in map: ${goValue(item)}`)
    }
  }
  const remaining = deleted.size === 0 ? before : before.filter((other) => !deleted.has(other[mergeKey]))
  return replace
    ? { remaining: given.map((item) => withoutDirectives(item) as JsonObject), given: [] }
    : { remaining, given }
}

/**
 * Sorts the items: those of `first` by their order existing, the others by their order in `server`, both interleaved by
 * `server`.
 */
function arrange<T>(items: readonly T[], first: List, server: List, mergeKey: string): T[] {
  const firstPlaces = places(first, mergeKey)
  const serverPlaces = places(server, mergeKey)
  const placeIn = (index: ReadonlyMap<unknown, number>) => (item: T) => index.get(identity(item, mergeKey))
  const sortBy = (list: T[], place: (item: T) => number | undefined): T[] =>
    list.sort((a, b) => (place(a) ?? 0) - (place(b) ?? 0))
  const inFirst = placeIn(firstPlaces)
  const inServer = placeIn(serverPlaces)
  const left = sortBy(
    items.filter((item) => inFirst(item) === undefined),
    inServer,
  )
  const right = sortBy(
    items.filter((item) => inFirst(item) !== undefined),
    inFirst,
  )
  const out: T[] = []
  let i = 0
  for (const item of right) {
    const place = inServer(item)
    while (i < left.length && place !== undefined && (inServer(left[i]!) ?? Number.POSITIVE_INFINITY) < place)
      out.push(left[i++]!)
    out.push(item)
  }
  return [...out, ...left.slice(i)]
}

function places(list: List, mergeKey: string): Map<unknown, number> {
  const out = new Map<unknown, number>()
  for (const [i, item] of list.entries()) {
    const key = identity(item, mergeKey)
    if (!out.has(key)) out.set(key, i)
  }
  return out
}

/** Merges both lists in the order of `$setElementOrder`. Returns undefined if existing is neither. */
export function orderedMerge(
  before: unknown,
  patch: unknown,
  wanted: List,
  mergeKey: string,
  merge: (before: List, patch: List) => List,
): List | undefined {
  for (const list of [before, patch])
    if (list !== undefined && !Array.isArray(list))
      throw internal(
        'expected a []interface {}, but received a ' +
          `${isObject(list) ? 'map[string]interface {}' : list === null ? '%!s(<nil>)' : typeof list}`,
      )
  const existing = before as List | undefined
  const given = patch as List | undefined
  if (given === undefined) {
    if (!existing) return undefined
  } else {
    checkOrder(given, wanted, mergeKey)
  }
  const merged = existing && given ? merge(existing, given) : (existing ?? (withoutDirectives(given) as List))
  return arrange(merged, wanted, existing ?? [], mergeKey)
}

/** Checks that the order list has all items of the patch in the same order. */
function checkOrder(patch: List, wanted: List, mergeKey: string): void {
  if (wanted.length === 0 || patch.length === 0) return
  if (mergeKey && patch.some((item) => !isObject(item)))
    throw badRequest('invalid patch format of setElementOrder list')
  const given = patch.filter((item) => !isDirective(item))
  let i = 0
  for (const item of wanted) if (i < given.length && identity(given[i], mergeKey) === identity(item, mergeKey)) i++
  if (i < given.length)
    throw internal(
      `The order in patch list:\n${goValue(patch)}\n doesn't match $setElementOrder list:\n${goValue(wanted)}\n`,
    )
}
