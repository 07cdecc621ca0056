/**
 * What Go's converter from maps to structs says of a value of the wrong type. Strategic merge patches go through it,
 * not through the JSON decoder, and clients see its words.
 */
import { isInt64 } from '../../lib/exact-json.ts'
import { goValue } from './go-type.ts'

/** What a Go type is made of. */
export type GoKind = 'map' | 'slice' | 'struct' | 'string' | 'bool' | 'int32' | 'int64' | 'float64'

/** `kind` and `type` are those of the field; a type without a kind reads its JSON itself. */
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

/**
 * Whether Go's language could convert the one to the other, which the converter still refuses: an integer would be a
 * code point.
 */
const isConvertible = (from: GoKind, to: GoKind): boolean =>
  numbers.includes(from) && (numbers.includes(to) || (from === 'int64' && to === 'string'))
