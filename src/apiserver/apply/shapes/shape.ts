/**
 * The shape of an object: its fields, the keys of its maps and of its lists' items, and which values are empty;
 * everything that decides which fields a creator comes to own, and nothing else. A shape is a path through a tree that
 * all objects of a type share: walking it makes no text and compares mostly pointers.
 */
import { type Collection, memberOf, type TypedNode } from '../../../machinery/fields/typed-node.ts'

const set = Symbol('a value')
/** Empty values may be what Go holds anyhow, and then nobody sets them. */
const falsy = Symbol('0, false or an empty text')
const empty = Symbol('an empty list or map')
const nothing = Symbol('null')
const absent = Symbol('a key that an item lacks')
const end = Symbol('the end of a list, item or map')

/** Names and keys stand for themselves. */
type Step = string | number | bigint | boolean | symbol

/** A point on the way through objects. */
export class Shape<T> {
  /** What belongs to the objects whose shape ends here. */
  value: T | undefined
  /** The type of the member whose name led here. */
  readonly member: TypedNode | undefined
  /** Most points have one way on. */
  #step: Step | undefined
  #next: Shape<T> | undefined
  #others: Map<Step, Shape<T>> | undefined

  constructor(member?: TypedNode) {
    this.member = member
  }

  known(step: Step): Shape<T> | undefined {
    return this.#step === step ? this.#next : this.#others?.get(step)
  }

  after(step: Step, points: Points, member?: TypedNode): Shape<T> {
    const known = this.known(step)
    if (known) return known
    if (++points.made > points.most) throw new TooManyPoints()
    const next = new Shape<T>(member)
    if (this.#step === undefined) {
      this.#step = step
      this.#next = next
    } else (this.#others ??= new Map()).set(step, next)
    return next
  }
}

/** Counts how many points were made, for whoever bounds them. */
export interface Points {
  made: number
  /** Making more of them throws TooManyPoints. */
  most: number
}

/** The object is so large that its shape is not worth keeping. */
export class TooManyPoints extends Error {}

/** The end of the way of `value` from `start`. */
export function shapeOf<T>(value: unknown, node: TypedNode, start: Shape<T>, points: Points): Shape<T> {
  if (node.kind === 'leaf' || typeof value !== 'object' || value === null) return start.after(leaf(value), points)
  if (Array.isArray(value))
    return node.kind === 'set' || node.kind === 'list'
      ? listShape(value, node, start, points)
      : start.after(set, points)
  if (node.kind === 'set' || node.kind === 'list') return start.after(set, points)
  let at = start
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    if (member === undefined) continue
    // Who came this way before has looked the type up.
    const known = at.known(name)
    const below = known ? known.member : memberOf(node, name)
    if (below) at = shapeOf(member, below, known ?? at.after(name, points, below), points)
  }
  return at.after(end, points)
}

function listShape<T>(items: readonly unknown[], node: Collection, start: Shape<T>, points: Points): Shape<T> {
  let at = start
  for (const item of items) {
    if (node.kind === 'list')
      for (const { name } of node.keys) at = at.after(keyStep((item as Record<string, unknown> | null)?.[name]), points)
    else at = at.after(keyStep(item), points)
    at = shapeOf(item, node.items, at, points)
  }
  return at.after(end, points)
}

/** What tells an item apart. Only scalars do. */
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
