/** Merges the members of an object by their patch strategies. */

import { own, setOwn } from '../../../lib/own.ts'
import { isObject, type JsonObject, jsonEqual } from '../../fields/json.ts'
import { goValue } from '../../fields/validate-typed.ts'
import type { Field, FieldType } from '../../schema.ts'
import { badRequest, internal } from '../../status-error.ts'
import { deletion, isDirective, order, patchDirective, retainKeys, withoutDirectives } from './directives.ts'
import { mergeLists, orderedMerge } from './lists.ts'

/** The patch strategy of a member. */
interface Strategy {
  readonly type: FieldType | undefined
  readonly merge: boolean
  readonly replace: boolean
  readonly mergeKey: string
}

const plain: Strategy = { type: undefined, merge: false, replace: false, mergeKey: '' }

const strategyOf = ({ type, patchStrategy = [], patchMergeKey = '' }: Field): Strategy => ({
  type,
  merge: patchStrategy.includes('merge'),
  replace: patchStrategy.includes('replace'),
  mergeKey: patchMergeKey,
})

function memberStrategy(type: FieldType | undefined, name: string): Strategy {
  if (type?.kind === 'map') return { ...plain, type: type.values }
  const field = type?.kind === 'struct' ? type.fields.get(name) : undefined
  return field ? strategyOf(field) : plain
}

/** Merges the patch's members into the object. */
export function mergeMembers(original: JsonObject, given: JsonObject, type: FieldType | undefined): JsonObject {
  if (Object.hasOwn(given, patchDirective)) return replaceOrDelete(given)
  const patch = { ...given }
  const out = { ...retainedMembers(original, patch) }
  mergeOrdered(out, patch, type)
  for (const name of Object.keys(patch)) mergeMember(out, name, patch[name], type)
  return out
}

function replaceOrDelete(patch: JsonObject): JsonObject {
  if (patch[patchDirective] === 'delete') return {}
  if (patch[patchDirective] !== 'replace')
    throw internal(`unknown patch type: ${goValue(patch[patchDirective])} in map: ${goValue(patch)}`)
  const { [patchDirective]: _, ...rest } = patch
  return rest
}

/** Removes `$retainKeys` from the patch, and returns the members of the original that it retains. */
function retainedMembers(original: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, retainKeys)) return original
  const wrong = badRequest('invalid patch format of retainKeys')
  const keys = patch[retainKeys]
  delete patch[retainKeys]
  if (!Array.isArray(keys)) throw wrong
  const keysToRetain = new Set<unknown>(keys)
  for (const name of Object.keys(patch))
    if (patch[name] !== null && !name.startsWith(deletion) && !name.startsWith(order) && !keysToRetain.has(name))
      throw wrong
  return Object.fromEntries(Object.entries(original).filter(([name]) => keysToRetain.has(name)))
}

/** Merges the lists that have a `$setElementOrder/x`, and removes both from the patch. */
function mergeOrdered(out: JsonObject, patch: JsonObject, type: FieldType | undefined): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(order)) continue
    const wanted = patch[key]
    delete patch[key]
    const name = key[order.length] === '/' ? key.slice(order.length + 1) : undefined
    if (name === undefined) throw badRequest('invalid patch format of setElementOrder list')
    if (!Array.isArray(wanted))
      throw internal(
        `expected a []interface {}, but received a ${isObject(wanted) ? 'map[string]interface {}' : typeof wanted}`,
      )
    const strategy = memberStrategy(type, name)
    const merged = orderedMerge(own(out, name), own(patch, name), wanted, strategy.mergeKey, (a, b) =>
      mergeList(a, b, strategy, false),
    )
    delete patch[name]
    if (merged) setOwn(out, name, merged)
  }
}

function mergeMember(out: JsonObject, given: string, value: unknown, type: FieldType | undefined): void {
  const deletes = given.startsWith(deletion)
  if (deletes && given[deletion.length] !== '/') throw badRequest('invalid patch format of primitive list')
  const name = deletes ? given.slice(deletion.length + 1) : given
  const before = own(out, name)
  if (value === null) {
    delete out[name]
    return
  }
  const bothMaps = isObject(before) && isObject(value)
  const bothLists = Array.isArray(before) && Array.isArray(value)
  if (!bothMaps && !bothLists) {
    if (!deletes) setOwn(out, name, jsonEqual(before, value) ? before : withoutDirectives(value))
    return
  }
  const strategy = memberStrategy(type, name)
  if (bothLists) setOwn(out, name, mergeList(before, value, strategy, deletes))
  else if (bothMaps) setOwn(out, name, strategy.replace ? value : mergeMembers(before, value, strategy.type))
}

function mergeList(
  before: readonly unknown[],
  patch: readonly unknown[],
  { type, merge, mergeKey }: Strategy,
  deletes: boolean,
): readonly unknown[] {
  if (!merge) return patch.some(isDirective) ? (withoutDirectives(patch) as unknown[]) : patch
  const items = type?.kind === 'array' ? type.items : undefined
  return mergeLists(before, patch, mergeKey, deletes, (a, b) => mergeMembers(a, b, items))
}
