/**
 * Field sets in the form of FieldsV1: a trie of path elements in which an empty node, or one with `.`, is a member.
 * Sets are immutable: operations create new ones that share unchanged nodes. Elements are `.` or have a colon, so that
 * none has the name of an inherited property.
 */
import type { FieldsV1 } from '../object.ts'
import {
  canonicalElement,
  compareElements,
  fieldElement,
  type OrderedElement,
  orderedElement,
  sortedElements,
} from './path-element.ts'

/** A member without fields below it. */
export const leaf: FieldsV1 = Object.freeze({})

/** The set without fields. */
export const emptySet: FieldsV1 = Object.freeze({})

const hasChildren = (node: FieldsV1): boolean => {
  for (const key in node) if (key !== '.') return true
  return false
}

/** Returns true if the set has no fields. */
export const isEmpty = (set: FieldsV1): boolean => !hasChildren(set)

const isMember = (node: FieldsV1): boolean => {
  if ('.' in node) return true
  for (const _ in node) return false
  return true
}

/** Creates a node. Returns undefined if it is not a member and has no children. */
function build(member: boolean, children: FieldsV1 | undefined): FieldsV1 | undefined {
  if (!children || !hasChildren(children)) return member ? leaf : undefined
  return member ? { '.': leaf, ...children } : children
}

/** Returns true if the set has the field at the path. */
export function has(set: FieldsV1, path: readonly string[]): boolean {
  let node: FieldsV1 | undefined = set
  for (const element of path) {
    node = node[element]
    if (!node) return false
  }
  return path.length > 0 && isMember(node)
}

function unionOfChildren(a: FieldsV1, b: FieldsV1): FieldsV1 {
  const out: FieldsV1 = {}
  for (const key in a) {
    if (key === '.') continue
    const other = b[key]
    out[key] = other ? unionOfNodes(a[key]!, other) : a[key]!
  }
  for (const key in b) if (key !== '.' && !Object.hasOwn(out, key)) out[key] = b[key]!
  return out
}

function unionOfNodes(a: FieldsV1, b: FieldsV1): FieldsV1 {
  if (a === b) return a
  return build(isMember(a) || isMember(b), unionOfChildren(a, b)) ?? leaf
}

/** Returns the fields that are in either set. */
export function union(a: FieldsV1, b: FieldsV1): FieldsV1 {
  if (a === b || isEmpty(b)) return a
  return isEmpty(a) ? b : unionOfChildren(a, b)
}

function differenceOfChildren(a: FieldsV1, b: FieldsV1, whole: boolean): FieldsV1 {
  let out: FieldsV1 | undefined
  for (const key in a) {
    if (key === '.') continue
    const other = b[key]
    if (!other) continue
    const node = a[key]!
    const remaining = differenceOfNodes(node, other, whole)
    if (remaining === node) continue
    if (!out) out = { ...a }
    if (remaining) out[key] = remaining
    else delete out[key]
  }
  return out ?? a
}

function differenceOfNodes(a: FieldsV1, b: FieldsV1, whole: boolean): FieldsV1 | undefined {
  const removed = isMember(b)
  if (whole && removed) return undefined
  const member = isMember(a)
  const isMemberAfter = member && !removed
  const children = differenceOfChildren(a, b, whole)
  if (children === a && isMemberAfter === member) return a
  if (!('.' in children)) return build(isMemberAfter, children)
  const { '.': _, ...rest } = children
  return build(isMemberAfter, rest)
}

/** Returns the fields of `a` that are not in `b`. Fields below a member of `b` remain. */
export const difference = (a: FieldsV1, b: FieldsV1): FieldsV1 => (isEmpty(b) ? a : differenceOfChildren(a, b, false))

/** Returns the fields of `a` that are neither in `b` nor below a member of `b`. */
export const differenceBelow = (a: FieldsV1, b: FieldsV1): FieldsV1 =>
  isEmpty(b) ? a : differenceOfChildren(a, b, true)

function intersectionOfChildren(a: FieldsV1, b: FieldsV1): FieldsV1 {
  const out: FieldsV1 = {}
  for (const key in a) {
    if (key === '.') continue
    const other = b[key]
    const both = other && build(isMember(a[key]!) && isMember(other), intersectionOfChildren(a[key]!, other))
    if (both) out[key] = both
  }
  return out
}

/** Returns the fields that are in both sets. */
export const intersection = (a: FieldsV1, b: FieldsV1): FieldsV1 => (a === b ? a : intersectionOfChildren(a, b))

/** Returns true if both sets have the same fields. */
export function equalSets(a: FieldsV1, b: FieldsV1): boolean {
  if (a === b) return true
  let count = 0
  for (const key in a) {
    if (key === '.') continue
    count++
    const x = a[key]!
    const y = b[key]
    if (!y || (x !== y && (isMember(x) !== isMember(y) || !equalSets(x, y)))) return false
  }
  for (const key in b) if (key !== '.') count--
  return count === 0
}

/** Yields the paths of all members: those of a node before nested ones. */
export function* pathsOf(set: FieldsV1, prefix: readonly string[] = []): Generator<string[]> {
  const elements = sortedElements(Object.keys(set).filter((key) => key !== '.'))
  for (const element of elements) if (isMember(set[element]!)) yield [...prefix, element]
  for (const element of elements) yield* pathsOf(set[element]!, [...prefix, element])
}

/** Sorts the members of every node in the order in which Go writes them. Returns the set itself if it is sorted. */
export function sortFieldSet(set: FieldsV1): FieldsV1 {
  if (sortedSets.has(set)) return set
  const out = sortNodes(set)
  sortedSets.add(out)
  return out
}

/** Marks a set as sorted, and returns it. */
export function markSorted(set: FieldsV1): FieldsV1 {
  sortedSets.add(set)
  return set
}

/** Sets that are known to be sorted. Objects of the same form share their sets. */
const sortedSets = new WeakSet<FieldsV1>()

/** Sorts a set. Shares nodes that are sorted already. */
function sortNodes(set: FieldsV1): FieldsV1 {
  let last: string | undefined
  let lastElement: OrderedElement | undefined
  let isSorted = true
  let changed: Map<string, FieldsV1> | undefined
  for (const element in set) {
    if (isSorted && last !== undefined) {
      // Fast path for fields, which most elements are.
      if (last[0] === 'f' && element[0] === 'f') isSorted = last < element
      else {
        const next = orderedElement(element)
        isSorted = compareElements(lastElement ?? orderedElement(last), next) < 0
        lastElement = next
      }
    }
    const node = set[element]!
    const below = sortNodes(node)
    if (below !== node) (changed ??= new Map()).set(element, below)
    last = element
  }
  if (isSorted && !changed) return set
  const out: FieldsV1 = {}
  for (const element of isSorted ? Object.keys(set) : sortedElements(Object.keys(set)))
    out[element] = changed?.get(element) ?? set[element]!
  return out
}

/** Creates a set of dotted paths: `fieldSet('spec', 'metadata.finalizers')`. */
export function fieldSet(...paths: readonly string[]): FieldsV1 {
  return paths.reduce<FieldsV1>((set, path) => {
    const one = path.split('.').reduceRight<FieldsV1>((below, name) => ({ [fieldElement(name)]: below }), leaf)
    return union(set, one)
  }, emptySet)
}

/**
 * Parses FieldsV1 from a client: drops elements of unknown kinds and sorts keys. Throws an Error that names the first
 * invalid element.
 */
export function parseFieldsV1(value: unknown): FieldsV1 {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('FieldsV1 is not an object')
  const out: FieldsV1 = {}
  for (const [key, below] of Object.entries(value)) {
    if (key === '.') {
      out['.'] = leaf
      continue
    }
    const element = canonicalElement(key)
    if (element !== undefined) out[element] = parseFieldsV1(below)
  }
  return '.' in out && !hasChildren(out) ? leaf : out
}
