/**
 * Sets of fields, held as FieldsV1 itself: a trie of path elements in which an empty node, or one with `.`, is a
 * member. Sets are never changed: operations make new ones and share what stays the same. Elements are `.` or have a
 * colon, so that none is called like a property that every object inherits.
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

/** Whether there is no field in the set. */
export const isEmpty = (set: FieldsV1): boolean => !hasChildren(set)

const isMember = (node: FieldsV1): boolean => {
  if ('.' in node) return true
  for (const _ in node) return false
  return true
}

/** What the node is with only one of: itself, fields below. Undefined when nothing is left. */
function build(member: boolean, children: FieldsV1 | undefined): FieldsV1 | undefined {
  if (!children || !hasChildren(children)) return member ? leaf : undefined
  return member ? { '.': leaf, ...children } : children
}

/** Whether the field at the path is in the set. */
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

/** The fields that are in either. */
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
    const left = differenceOfNodes(node, other, whole)
    if (left === node) continue
    if (!out) out = { ...a }
    if (left) out[key] = left
    else delete out[key]
  }
  return out ?? a
}

function differenceOfNodes(a: FieldsV1, b: FieldsV1, whole: boolean): FieldsV1 | undefined {
  const removed = isMember(b)
  if (whole && removed) return undefined
  const member = isMember(a)
  const stays = member && !removed
  const children = differenceOfChildren(a, b, whole)
  if (children === a && stays === member) return a
  if (!('.' in children)) return build(stays, children)
  const { '.': _, ...rest } = children
  return build(stays, rest)
}

/** The fields of `a` that are not in `b`. Fields below a member of `b` stay. */
export const difference = (a: FieldsV1, b: FieldsV1): FieldsV1 => (isEmpty(b) ? a : differenceOfChildren(a, b, false))

/** The fields of `a` that neither are in `b` nor lie below a member of it. */
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

/** The fields that are in both. */
export const intersection = (a: FieldsV1, b: FieldsV1): FieldsV1 => (a === b ? a : intersectionOfChildren(a, b))

/** Whether both hold the same fields. */
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

/** The paths of all members: those of a node before those below it. */
export function* pathsOf(set: FieldsV1, prefix: readonly string[] = []): Generator<string[]> {
  const elements = sortedElements(Object.keys(set).filter((key) => key !== '.'))
  for (const element of elements) if (isMember(set[element]!)) yield [...prefix, element]
  for (const element of elements) yield* pathsOf(set[element]!, [...prefix, element])
}

/** The set with the members of every node in the order in which Go writes them; itself if it is so already. */
export function sorted(set: FieldsV1): FieldsV1 {
  if (inOrder.has(set)) return set
  const out = ordered(set)
  inOrder.add(out)
  return out
}

/** Notes that a set is in order already, and gives it back. */
export function knownSorted(set: FieldsV1): FieldsV1 {
  inOrder.add(set)
  return set
}

/** Sets that were looked at already: those of objects of one shape are shared. */
const inOrder = new WeakSet<FieldsV1>()

/** Nodes that are in order already are shared. */
function ordered(set: FieldsV1): FieldsV1 {
  let last: string | undefined
  let lastOrdered: OrderedElement | undefined
  let isInOrder = true
  let changed: Map<string, FieldsV1> | undefined
  for (const element in set) {
    if (isInOrder && last !== undefined) {
      // Fields, which most are, compare as they stand.
      if (last[0] === 'f' && element[0] === 'f') isInOrder = last < element
      else {
        const next = orderedElement(element)
        isInOrder = compareElements(lastOrdered ?? orderedElement(last), next) < 0
        lastOrdered = next
      }
    }
    const node = set[element]!
    const below = ordered(node)
    if (below !== node) (changed ??= new Map()).set(element, below)
    last = element
  }
  if (isInOrder && !changed) return set
  const out: FieldsV1 = {}
  for (const element of isInOrder ? Object.keys(set) : sortedElements(Object.keys(set)))
    out[element] = changed?.get(element) ?? set[element]!
  return out
}

/** The set of these paths of field names, dotted: `fieldSet('spec', 'metadata.finalizers')`. */
export function fieldSet(...paths: readonly string[]): FieldsV1 {
  return paths.reduce<FieldsV1>((set, path) => {
    const one = path.split('.').reduceRight<FieldsV1>((below, name) => ({ [fieldElement(name)]: below }), leaf)
    return union(set, one)
  }, emptySet)
}

/**
 * Reads FieldsV1 as a client sent it: elements of unknown kinds are left out, keys are brought into order.
 * Throws an Error that says what cannot be read.
 */
export function parseFieldsV1(value: unknown): FieldsV1 {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('FieldsV1 is no object')
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
