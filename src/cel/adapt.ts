/** JSON as CEL's values, by its declared type and without copying: elements and fields are adapted when they are read. */
import { jsonEqual } from '../machinery/fields/json.ts'
import { associated } from './associative-lists.ts'
import { equals } from './evaluation/equality.ts'
import { parseDuration, parseTime } from './standard/time-text.ts'
import { dynType, type ObjectType, type Type } from './types.ts'
import { CelList, CelMap, Duration, Timestamp, UInt, type Value } from './values.ts'

/**
 * The value of JSON declared as `type`. Numbers of type int are bigints, of type double doubles; of type dyn, whole numbers are ints.
 * Strings become bytes (base64), timestamps (RFC 3339 times and dates) or durations, if so declared. What does not fit its type is taken
 * as it is.
 */
export function adapt(json: unknown, type: Type): Value {
  switch (typeof json) {
    case 'string':
      return adaptString(json, type)
    case 'number':
      return adaptNumber(json, type)
    case 'boolean':
    case 'bigint':
      return json
    case 'object':
      if (json === null) return null
      if (Array.isArray(json)) return type.kind === 'list' ? associated(new JsonList(json, type.element), type) : new JsonList(json, dynType)
      return type.kind === 'object' ? new JsonObject(json as JsonMembers, type) : new JsonMap(json as JsonMembers, type.kind === 'map' ? type.value : dynType)
    default:
      return null
  }
}

type JsonMembers = Readonly<Record<string, unknown>>

function adaptNumber(json: number, type: Type): Value {
  if (type.kind === 'double') return json
  const value = Number.isInteger(json) ? BigInt(json) : json
  return type.kind === 'uint' && typeof value === 'bigint' ? new UInt(value) : value
}

function adaptString(json: string, type: Type): Value {
  switch (type.kind) {
    case 'bytes':
      return new Uint8Array(Buffer.from(json, 'base64'))
    case 'timestamp': {
      const nanoseconds = parseTime(json.length === 10 ? `${json}T00:00:00Z` : json)
      return nanoseconds === undefined ? json : new Timestamp(nanoseconds)
    }
    case 'duration': {
      const nanoseconds = parseDuration(json)
      return nanoseconds === undefined ? json : new Duration(nanoseconds)
    }
    default:
      return json
  }
}

class JsonList extends CelList {
  private readonly items: readonly unknown[]
  private readonly element: Type

  constructor(items: readonly unknown[], element: Type) {
    super()
    this.items = items
    this.element = element
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): Value {
    return adapt(this.items[index], this.element)
  }
}

/** A member whose key is not inherited; undefined: there is none. */
const member = (members: JsonMembers, key: string): unknown => (Object.hasOwn(members, key) ? members[key] : undefined)

class JsonMap extends CelMap {
  private readonly members: JsonMembers
  private readonly value: Type

  constructor(members: JsonMembers, value: Type) {
    super()
    this.members = members
    this.value = value
  }
  get size(): number {
    return Object.keys(this.members).length
  }
  get(key: Value): Value | undefined {
    const found = typeof key === 'string' ? member(this.members, key) : undefined
    return found === undefined ? undefined : adapt(found, this.value)
  }
  keys(): Iterable<Value> {
    return Object.keys(this.members)
  }
}

/** An object of a declared type: members that it does not declare, and null, are not there. */
class JsonObject extends CelMap {
  private readonly members: JsonMembers
  override readonly objectType: ObjectType

  constructor(members: JsonMembers, type: ObjectType) {
    super()
    this.members = members
    this.objectType = type
  }
  /** Costs count all members. */
  get size(): number {
    return Object.keys(this.members).length
  }
  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const field = this.objectType.fields.get(key)
    const found = field && (member(this.members, field.property ?? key) ?? undefined)
    return field === undefined || found === undefined ? undefined : adapt(found, field.type)
  }
  *keys(): Generator<Value> {
    for (const name of this.objectType.fields.keys()) if (this.get(name) !== undefined) yield name
  }
  /** What is not declared counts too: a rule may say that free-form data never changes. */
  override equals(other: CelMap): boolean {
    if (!(other instanceof JsonObject)) return sameFields(this, other)
    if (jsonEqual(this.members, other.members)) return true
    if (this.size !== other.size || !sameFields(this, other)) return false
    const declared = new Set([...this.objectType.fields].map(([name, { property }]) => property ?? name))
    return Object.entries(this.members).every(
      ([name, value]) => declared.has(name) || !Object.hasOwn(other.members, name) || jsonEqual(value, other.members[name]),
    )
  }
}

function sameFields(a: CelMap, b: CelMap): boolean {
  const names = [...a.keys()]
  return (
    names.every((name) => {
      const [mine, theirs] = [a.get(name), b.get(name)]
      return mine !== undefined && theirs !== undefined && equals(mine, theirs)
    }) && [...b.keys()].length === names.length
  )
}
