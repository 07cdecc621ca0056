/**
 * Merges an applied object into another by type (structured-merge-diff's Merge): applied values win, maps and keyed
 * lists are merged, and applied items retain their order among the others. Unchanged parts are shared.
 */
import { own, setOwn } from '../../lib/own.ts'
import type { StructType } from '../schema.ts'
import { isObject, type JsonObject, jsonEqual } from './json.ts'
import {
  type Collection,
  elementOrUndefined,
  itemElement,
  itemsByElement,
  type ListKey,
  memberOf,
  type TypedNode,
  typedNode,
} from './typed-node.ts'

/** Merges `applied` into `object`. Does not change either. */
export const mergeTyped = <T>(object: T, applied: unknown, type: StructType): T =>
  merge(object, applied, typedNode(type)) as T

const isEmptyMap = (value: unknown): boolean => {
  if (!isObject(value)) return true
  for (const key in value) if (value[key] !== undefined) return false
  return true
}

const isEmptyList = (value: unknown): boolean => !Array.isArray(value) || value.length === 0

function merge(before: unknown, applied: unknown, node: TypedNode): unknown {
  if (applied === undefined) return before
  if (before === undefined) return applied
  switch (node.kind) {
    case 'leaf':
      return jsonEqual(before, applied) ? before : applied
    case 'set':
    case 'list':
      if (isEmptyList(before)) return applied
      return isEmptyList(applied) ? before : mergeLists(before as unknown[], applied as unknown[], node)
    default:
      if (node.kind === 'deduced' && applied !== null && !(isObject(before) && isObject(applied)))
        return jsonEqual(before, applied) ? before : applied
      if (isEmptyMap(before)) return applied
      return isEmptyMap(applied) ? before : mergeMaps(before as JsonObject, applied as JsonObject, node)
  }
}

function mergeMaps(
  before: JsonObject,
  applied: JsonObject,
  node: Exclude<TypedNode, { kind: 'leaf' } | Collection>,
): JsonObject {
  let out: JsonObject | undefined
  for (const name of Object.keys(applied)) {
    const below = memberOf(node, name)
    const old = own(before, name)
    const value = below ? merge(old, applied[name], below) : applied[name]
    if (value === old) continue
    out ??= { ...before }
    setOwn(out, name, value)
  }
  return out ?? before
}

/**
 * Returns true if both lists have items with the same keys in the same order. Applied items have no duplicates.
 */
function haveSameItems(before: readonly unknown[], applied: readonly unknown[], node: Collection): boolean {
  if (before.length !== applied.length) return false
  return before.every((item, i) =>
    node.kind === 'set' ? isScalar(item) && item === applied[i] : haveSameKeys(item, applied[i], node.keys),
  )
}

const isScalar = (value: unknown): boolean => value !== undefined && (typeof value !== 'object' || value === null)

const haveSameKeys = (a: unknown, b: unknown, keys: readonly ListKey[]): boolean =>
  isObject(a) &&
  isObject(b) &&
  keys.every(({ name, default: otherwise }) => {
    const [key, other] = [own(a, name), own(b, name)].map((given) => (given === undefined ? otherwise : given))
    return isScalar(key) && key === other
  })

function mergeByIndex(before: readonly unknown[], applied: readonly unknown[], items: TypedNode): readonly unknown[] {
  let out: unknown[] | undefined
  for (const [i, item] of before.entries()) {
    const merged = merge(item, applied[i], items)
    if (merged === item) continue
    out ??= [...before]
    out[i] = merged
  }
  return out ?? before
}

function mergeLists(before: readonly unknown[], applied: readonly unknown[], node: Collection): readonly unknown[] {
  if (haveSameItems(before, applied, node)) return mergeByIndex(before, applied, node.items)
  const rest = before.map((item) => elementOrUndefined(node, item))
  const wanted = applied.map((item) => itemElement(node, item))
  const existing = itemsByElement(node, before)
  const given = itemsByElement(node, applied)
  const shared = wanted.filter((element) => existing.has(element))
  const done = new Set<string>()
  const out: unknown[] = []
  const take = (element: string): void => {
    const old = existing.get(element)
    // The applied item replaces several items with the same key.
    out.push(merge(old?.length === 1 ? old[0] : undefined, given.get(element)![0], node.items))
    done.add(element)
  }
  let next = 0
  let i = 0
  let j = 0
  while (i < rest.length || j < wanted.length) {
    const element = rest[i]
    if (i < rest.length && j < wanted.length) {
      if (element === wanted[j]) {
        take(wanted[j]!)
        i++
        j++
        next++
        continue
      }
      // A shared item that is not the next one.
      if (element !== undefined && given.has(element) && next < shared.length && shared[next] !== element) {
        i++
        continue
      }
    }
    if (i < rest.length) {
      if (element === undefined || !given.has(element)) {
        out.push(before[i])
        i++
        continue
      }
      if (done.has(element)) i++
    }
    if (j < wanted.length) {
      const wantedElement = wanted[j]!
      take(wantedElement)
      j++
      if (shared[next] === wantedElement) next++
    }
  }
  return out.length === before.length && out.every((item, place) => item === before[place]) ? before : out
}
