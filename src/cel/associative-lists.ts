/** Lists whose order does not count when they are compared: sets, and lists whose elements are known by keys (`x-kubernetes-list-type`). */
import { equals } from './evaluation/equality.ts'
import type { ListType } from './types.ts'
import { ArrayList, CelList, CelMap, mapKey, type Value } from './values.ts'

/** `list` with the identity that its type gives it. */
export function associated(list: CelList, { identity }: ListType): CelList {
  if (!identity) return list
  return identity.kind === 'set' ? new SetList(list) : new KeyedList(list, identity.keys)
}

abstract class AssociativeList extends CelList {
  protected readonly inner: CelList

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
}

class SetList extends AssociativeList {
  private known: ReadonlySet<unknown> | undefined

  override equals(other: CelList): boolean {
    return this.size === other.size && [...other].every((value) => this.has(value))
  }
  /** The union; what is here keeps its place. */
  override plus(other: CelList): CelList {
    const values = [...this]
    for (const value of other) if (!values.some((it) => equals(it, value))) values.push(value)
    return new SetList(new ArrayList(values))
  }
  private has(value: Value): boolean {
    const key = mapKey(value)
    if (key === undefined) return [...this].some((it) => equals(it, value))
    this.known ??= new Set([...this].map(mapKey))
    return this.known.has(key)
  }
}

class KeyedList extends AssociativeList {
  private readonly keys: readonly string[]
  private byKey: ReadonlyMap<string, number> | undefined

  constructor(inner: CelList, keys: readonly string[]) {
    super(inner)
    this.keys = keys
  }
  override equals(other: CelList): boolean {
    if (this.size !== other.size) return false
    return [...other].every((value) => {
      const place = this.places().get(this.keyOf(value))
      return place !== undefined && equals(this.at(place), value)
    })
  }
  /** Elements with keys that are here take their place, the others come after. */
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
  private places(): ReadonlyMap<string, number> {
    this.byKey ??= new Map([...this].map((value, place) => [this.keyOf(value), place]))
    return this.byKey
  }
  private keyOf(value: Value): string {
    if (!(value instanceof CelMap)) return ''
    const parts = this.keys.map((key) => mapKey(value.get(key) ?? null))
    return JSON.stringify(parts.map((part) => (typeof part === 'bigint' ? { int: String(part) } : (part ?? null))))
  }
}
