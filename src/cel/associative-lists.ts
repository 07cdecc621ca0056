/**
 * Lists that are compared without regard to order: sets, and lists whose elements are identified by keys
 * (`x-kubernetes-list-type`).
 */
import { equals, type IterationLimit } from './evaluation/equality.ts'
import type { ListType } from './types.ts'
import { ArrayList, CelList, CelMap, Duration, Timestamp, UInt, type Value } from './values.ts'

/** Wraps a list with the identity of its type, if it has one. */
export function withIdentity(list: CelList, { identity }: ListType): CelList {
  if (!identity) return list
  return identity.kind === 'set' ? new SetList(list) : new KeyedList(list, identity.keys)
}

abstract class AssociativeList extends CelList {
  private readonly inner: CelList
  private known: ReadonlyMap<string, number> | undefined

  constructor(inner: CelList) {
    super()
    this.inner = inner
  }
  get size(): number {
    return this.inner.size
  }
  at(index: number): Value {
    return this.inner.at(index)
  }
  /** Returns a key that is equal for equal elements. */
  protected abstract keyOf(value: Value): string

  /** The indexes of the elements by their keys. */
  protected places(): ReadonlyMap<string, number> {
    if (this.known) return this.known
    const known = new Map<string, number>()
    for (let place = 0; place < this.size; place++) known.set(this.keyOf(this.at(place)), place)
    return (this.known = known)
  }
}

class SetList extends AssociativeList {
  override equals(other: CelList): boolean {
    if (this.size !== other.size) return false
    const places = this.places()
    for (let place = 0; place < other.size; place++) if (!places.has(this.keyOf(other.at(place)))) return false
    return true
  }
  /** Returns the union. Elements of this list retain their indexes. */
  override plus(other: CelList): CelList {
    const values = [...this]
    const keys = new Set(this.places().keys())
    for (const value of other) {
      const key = this.keyOf(value)
      if (keys.has(key)) continue
      keys.add(key)
      values.push(value)
    }
    return new SetList(new ArrayList(values))
  }
  protected keyOf(value: Value): string {
    return identityText(value)
  }
}

class KeyedList extends AssociativeList {
  private readonly keys: readonly string[]

  constructor(inner: CelList, keys: readonly string[]) {
    super(inner)
    this.keys = keys
  }
  override equals(other: CelList, iterations?: IterationLimit): boolean {
    if (this.size !== other.size) return false
    return [...other].every((value) => {
      iterations?.countIteration()
      const place = this.places().get(this.keyOf(value))
      return place !== undefined && equals(this.at(place), value, iterations)
    })
  }
  /** Replaces elements with the same keys, and appends the others. */
  override plus(other: CelList): CelList {
    const values = [...this]
    const places = new Map(this.places())
    for (const value of other) {
      const key = this.keyOf(value)
      const place = places.get(key)
      if (place === undefined) places.set(key, values.push(value) - 1)
      else values[place] = value
    }
    return new KeyedList(new ArrayList(values), this.keys)
  }
  protected keyOf(value: Value): string {
    return value instanceof CelMap ? this.keys.map((key) => identityText(value.get(key) ?? null)).join() : ''
  }
}

/** Returns a text that is equal for equal values of one type. */
function identityText(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value === null || typeof value !== 'object') return String(value)
  if (value instanceof CelList) return `[${[...value].map(identityText).join()}]`
  if (value instanceof CelMap)
    return `{${[...value.keys()]
      .map((key) => `${identityText(key)}:${identityText(value.get(key) ?? null)}`)
      .sort()
      .join()}}`
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('base64')}`
  if (value instanceof UInt) return String(value.value)
  return value instanceof Timestamp || value instanceof Duration ? `t${value.nanoseconds}` : ''
}
