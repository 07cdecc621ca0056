/** The text of values for `string()`, and the names of their types for messages. */
import { typeOf } from '../../evaluation/type-of.ts'
import { formatDouble } from '../../standard/double-text.ts'
import { formatDuration, formatTime } from '../../standard/time-text.ts'
import { runtimeTypeName } from '../../types.ts'
import { CelError, Duration, Timestamp, TypeValue, UInt, type Value } from '../../values.ts'

/** Returns the name of a value's type at run time: `int`, `google.protobuf.Timestamp`, `kubernetes.Quantity`. */
export const typeNameOf = (value: Value): string => runtimeTypeName(typeOf(value))

/** Returns a scalar's text, or undefined for other values. Throws CelError for bytes that are not UTF-8. */
export function scalarText(value: Value): string | undefined {
  if (value === null) return 'null'
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return formatDouble(value)
  if (value instanceof UInt) return String(value.value)
  if (value instanceof Uint8Array) return utf8Text(value)
  if (value instanceof Duration) return formatDuration(value.nanoseconds)
  if (value instanceof Timestamp) return formatTime(value)
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
