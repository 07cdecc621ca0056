/**
 * The messages of Go's converter from maps to structs for values of the wrong type. Strategic merge patches pass
 * through it instead of the JSON decoder, and clients see its messages.
 */
import { isInt64 } from '../../lib/exact-json.ts'
import { goValue } from './go-type.ts'

/** The kind of a Go type. */
export type GoKind = 'map' | 'slice' | 'struct' | 'string' | 'bool' | 'int32' | 'int64' | 'float64'

/** Returns the message for a field of `kind` and `type`. A type without a kind decodes its own JSON. */
export function conversionFault(value: unknown, kind: GoKind | undefined, type: string): string {
  const from = kindOf(value)
  switch (kind) {
    case undefined:
      return `json: cannot unmarshal ${goValue(value)} into Go value of type ${type}`
    case 'map':
    case 'slice':
      return `cannot restore ${kind} from ${from}`
    case 'struct':
      return `cannot restore struct from: ${from}`
    default:
      return isConvertible(from, kind) ? `cannot convert ${from} to ${type}` : `unrecognized type: ${kind}`
  }
}

function kindOf(value: unknown): GoKind {
  if (typeof value === 'bigint') return isInt64(value) ? 'int64' : 'float64'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (Array.isArray(value)) return 'slice'
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'bool' : 'map'
}

const numbers: readonly GoKind[] = ['int32', 'int64', 'float64']

/** Returns true if Go could convert the types, which changes the converter's message. */
const isConvertible = (from: GoKind, to: GoKind): boolean =>
  numbers.includes(from) && (numbers.includes(to) || (from === 'int64' && to === 'string'))
