/**
 * Adapts JSON to CEL values by its declared type, without copying: elements and fields are adapted when they are read.
 */
import { durationInWords } from '../machinery/structural-schema/index.ts'
import { withIdentity } from './associative-lists.ts'
import { parseDuration, parseTime } from './standard/time-text.ts'
import { dynType, type ObjectType, type Type } from './types.ts'
import { CelList, CelMap, Duration, Timestamp, UInt, type Value } from './values.ts'

/**
 * Adapts JSON of a declared type. Numbers of type int become bigints, those of type double doubles; for type dyn, whole
 * numbers are ints, unless they are beyond int64. Strings become bytes (base64), timestamps (RFC 3339 times and dates)
 * or durations, if so declared. A value that does not fit its type is adapted without it.
 */
export function adapt(json: unknown, type: Type): Value {
  switch (typeof json) {
    case 'string':
      return adaptString(json, type)
    case 'number':
      return adaptNumber(json, type)
    case 'bigint':
      return type.kind === 'double' ? Number(json) : type.kind === 'uint' ? new UInt(json) : json
    case 'boolean':
      return json
    case 'object':
      if (json === null) return null
      if (Array.isArray(json))
        return type.kind === 'list' ? withIdentity(new JsonList(json, type.element), type) : new JsonList(json, dynType)
      return type.kind === 'object'
        ? new JsonObject(json as JsonMembers, type)
        : new JsonMap(json as JsonMembers, type.kind === 'map' ? type.value : dynType)
    default:
      return null
  }
}

type JsonMembers = Readonly<Record<string, unknown>>

function adaptNumber(json: number, type: Type): Value {
  if (type.kind === 'double') return json
  const value = Number.isSafeInteger(json) ? BigInt(json) : json
  return type.kind === 'uint' && typeof value === 'bigint' ? new UInt(value) : value
}

function adaptString(json: string, type: Type): Value {
  switch (type.kind) {
    case 'bytes':
      return new Uint8Array(Buffer.from(json, 'base64'))
    case 'timestamp': {
      const time = parseTime(json.length === 10 ? `${json}T00:00:00Z` : json)
      return time === undefined ? json : new Timestamp(time.nanoseconds, time.offset)
    }
    case 'duration': {
      const nanoseconds = parseDuration(json) ?? durationInWords(json)
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

/** Returns an own member, or undefined if there is none. */
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

/**
 * An object of a declared type. Null members are absent. Undeclared ones are present, because schemas may preserve
 * them.
 */
class JsonObject extends CelMap {
  private readonly members: JsonMembers
  override readonly objectType: ObjectType

  constructor(members: JsonMembers, type: ObjectType) {
    super()
    this.members = members
    this.objectType = type
  }
  get size(): number {
    return [...this.keys()].length
  }
  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const field = this.objectType.fields.get(key)
    const found = member(this.members, field?.property ?? key)
    return found === undefined || found === null ? undefined : adapt(found, field?.type ?? dynType)
  }
  *keys(): Generator<Value> {
    const declared = new Set<string>()
    for (const [name, { property = name }] of this.objectType.fields) {
      declared.add(property)
      if ((member(this.members, property) ?? null) !== null) yield name
    }
    for (const name of Object.keys(this.members)) if (!declared.has(name) && this.members[name] !== null) yield name
  }
}
