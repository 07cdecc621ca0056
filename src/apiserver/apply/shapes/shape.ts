/**
 * The shape of an object: its fields, the keys of its maps and list items, and which values are empty: exactly what
 * decides which fields a creator owns. A shape is a path through a tree that all objects of a type share: walking it
 * builds no text and compares mostly pointers.
 */
import { type Collection, memberOf, type TypedNode } from '../../../machinery/fields/typed-node.ts'

const set = Symbol('a value')
/** Go does not write empty values of some fields, so nobody owns them. */
const falsy = Symbol('0, false or an empty text')
const empty = Symbol('an empty list or map')
const nothing = Symbol('null')
const absent = Symbol('a key that an item lacks')
const end = Symbol('the end of a list, item or map')

/** Names and keys, or one of the symbols above for a value. */
type Step = string | number | bigint | boolean | symbol

/** A node of the tree. */
export class Shape<T> {
  /** The value for objects whose shape ends here. */
  value: T | undefined
  /** The type of the member whose name leads here. */
  readonly member: TypedNode | undefined
  /** Most nodes have one child: it needs no Map. */
  #step: Step | undefined
  #next: Shape<T> | undefined
  #others: Map<Step, Shape<T>> | undefined

  constructor(member?: TypedNode) {
    this.member = member
  }

  existingChild(step: Step): Shape<T> | undefined {
    return this.#step === step ? this.#next : this.#others?.get(step)
  }

  child(step: Step, points: Points, member?: TypedNode): Shape<T> {
    const known = this.existingChild(step)
    if (known) return known
    if (++points.created > points.limit) throw new TooManyPoints()
    const next = new Shape<T>(member)
    if (this.#step === undefined) {
      this.#step = step
      this.#next = next
    } else (this.#others ??= new Map()).set(step, next)
    return next
  }
}

/** Counts created nodes and limits them. */
export interface Points {
  created: number
  /** Creating more nodes throws TooManyPoints. */
  limit: number
}

/** Thrown for objects that are too large to cache their shape. */
export class TooManyPoints extends Error {}

/** Walks `value` from `start` and returns the last node. */
export function shapeOf<T>(value: unknown, node: TypedNode, start: Shape<T>, points: Points): Shape<T> {
  if (node.kind === 'leaf' || typeof value !== 'object' || value === null) return start.child(leaf(value), points)
  if (Array.isArray(value))
    return node.kind === 'set' || node.kind === 'list'
      ? listShape(value, node, start, points)
      : start.child(set, points)
  if (node.kind === 'set' || node.kind === 'list') return start.child(set, points)
  let at = start
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    if (member === undefined) continue
    // The first object with this path has looked up the type.
    const known = at.existingChild(name)
    const below = known ? known.member : memberOf(node, name)
    if (below) at = shapeOf(member, below, known ?? at.child(name, points, below), points)
  }
  return at.child(end, points)
}

function listShape<T>(items: readonly unknown[], node: Collection, start: Shape<T>, points: Points): Shape<T> {
  let at = start
  for (const item of items) {
    if (node.kind === 'list')
      for (const { name } of node.keys) at = at.child(keyStep((item as Record<string, unknown> | null)?.[name]), points)
    else at = at.child(keyStep(item), points)
    at = shapeOf(item, node.items, at, points)
  }
  return at.child(end, points)
}

/** The step for a key of an item. Only scalars are keys. */
const keyStep = (value: unknown): Step =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? value
    : value === undefined
      ? absent
      : nothing

function leaf(value: unknown): symbol {
  if (typeof value !== 'object') return value ? set : falsy
  if (value === null) return nothing
  for (const _ in value) return set
  return empty
}
