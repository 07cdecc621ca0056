/** Converts values of expressions to JSON, for the objects that expressions construct. */
import { integer } from '../../lib/exact-json.ts'
import { setOwn } from '../../lib/own.ts'
import { formatDuration, formatTime } from '../standard/time-text.ts'
import { CelError, CelList, CelMap, Duration, OptionalValue, Timestamp, UInt, type Value } from '../values.ts'

/** Converts a value to JSON. Throws CelError if it has no JSON form. */
export function jsonValue(value: Value): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number')
    return value
  if (typeof value === 'bigint') return integer(value)
  if (value instanceof UInt) return integer(value.value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Duration) return formatDuration(value.nanoseconds)
  if (value instanceof Timestamp) return formatTime(value)
  if (value instanceof OptionalValue) return value.value === undefined ? null : jsonValue(value.value)
  if (value instanceof CelList) return [...value].map(jsonValue)
  if (value instanceof CelMap) return jsonMembers(value)
  throw new CelError('no such JSON')
}

function jsonMembers(map: CelMap): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const key of map.keys()) {
    if (typeof key !== 'string') throw new CelError('JSON has no keys but strings')
    const value = map.get(key)
    if (value !== undefined) setOwn(members, key, jsonValue(value))
  }
  return members
}

/**
 * Checks that objects are in the fields that their types name: `Object.spec.template{…}` in the field `template` of the
 * field `spec`. Returns the error, or undefined.
 */
export function misplacedType(value: Value, path: string): string | undefined {
  if (value instanceof CelList) {
    for (const item of value) {
      const fault = misplacedType(item, path)
      if (fault) return fault
    }
    return undefined
  }
  const name = value instanceof CelMap ? value.objectType?.name : undefined
  if (!(value instanceof CelMap) || name === undefined || !isConstructed(name)) return undefined
  if (name !== path)
    return (
      `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(path)}, which matches field name ` +
      'path from root Object type'
    )
  for (const key of value.keys()) {
    const fault = misplacedType(value.get(key) ?? null, `${path}.${String(key)}`)
    if (fault) return fault
  }
  return undefined
}

const isConstructed = (name: string): boolean => name === 'Object' || name.startsWith('Object.')
