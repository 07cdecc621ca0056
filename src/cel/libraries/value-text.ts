/** Values as `string()` writes them, and the names of their types as messages tell them. */
import { runtimeTypeName } from '../types.ts'
import { CelError, CelList, CelMap, Duration, OpaqueValue, OptionalValue, Timestamp, TypeValue, UInt, type Value } from '../values.ts'
import { shortText } from './number-text.ts'

/** The name of a value's type at run time: `int`, `google.protobuf.Timestamp`, `kubernetes.Quantity`. */
export function typeNameOf(value: Value): string {
  if (value === null) return 'null_type'
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
  }
  if (value instanceof UInt) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof CelList) return 'list'
  if (value instanceof CelMap) return value.objectType?.name ?? 'map'
  if (value instanceof OptionalValue) return 'optional_type'
  if (value instanceof OpaqueValue) return value.type.name
  return value instanceof TypeValue ? 'type' : (value satisfies never)
}

/** A scalar's text; undefined for values that have none. Throws CelError for bytes that are no UTF-8. */
export function scalarText(value: Value): string | undefined {
  if (value === null) return 'null'
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return shortText(value)
  if (value instanceof UInt) return String(value.value)
  if (value instanceof Uint8Array) return utf8Text(value)
  if (value instanceof Duration) return durationText(value)
  if (value instanceof Timestamp) return timestampText(value)
  return value instanceof TypeValue ? runtimeTypeName(value.type) : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

const billion = 1_000_000_000n

/** Seconds: `6347s`, `0.000000002s`. */
export function durationText({ nanoseconds }: Duration): string {
  const amount = nanoseconds < 0n ? -nanoseconds : nanoseconds
  return `${nanoseconds < 0n ? '-' : ''}${amount / billion}${fractionText(amount % billion)}s`
}

/** RFC 3339 in UTC, with as many digits of a second as there are. */
export function timestampText({ nanoseconds }: Timestamp): string {
  const rest = ((nanoseconds % billion) + billion) % billion
  const seconds = new Date(Number((nanoseconds - rest) / 1_000_000n)).toISOString().slice(0, -5)
  return `${seconds}${fractionText(rest)}Z`
}

const fractionText = (nanoseconds: bigint): string => (nanoseconds === 0n ? '' : `.${nanoseconds.toString().padStart(9, '0').replace(/0+$/, '')}`)
