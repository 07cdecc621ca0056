/** The types of values at run time. */
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  runtimeTypeName,
  stringType,
  type Type,
  timestampType,
  typeType,
  uintType,
} from '../types.ts'
import {
  CelList,
  CelMap,
  Duration,
  OpaqueValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  UInt,
  type Value,
} from '../values.ts'

const anyList = listType(dynType)
const anyMap = mapType(dynType, dynType)
const anyOptional = optionalType(dynType)
const anyType = typeType(dynType)

/** Returns the type of a value for `type(x)`, without the element types of lists and maps. */
export function typeOf(value: Value): Type {
  switch (typeof value) {
    case 'bigint':
      return intType
    case 'string':
      return stringType
    case 'boolean':
      return boolType
    case 'number':
      return doubleType
    default:
      break
  }
  if (value === null) return nullType
  if (value instanceof CelMap) return value.objectType ?? anyMap
  if (value instanceof CelList) return anyList
  if (value instanceof UInt) return uintType
  if (value instanceof Timestamp) return timestampType
  if (value instanceof Duration) return durationType
  if (value instanceof Uint8Array) return bytesType
  if (value instanceof OptionalValue) return anyOptional
  return value instanceof OpaqueValue ? value.type : anyType
}

/**
 * Returns cel-go's type name of a value that is not a list, map or object, which some messages have: `types.Int`,
 * `cel.Quantity`.
 */
export function goTypeName(value: Value): string {
  const name = runtimeTypeName(typeOf(value)).split('.').at(-1) ?? ''
  if (value instanceof OpaqueValue) return `cel.${name}`
  if (value instanceof OptionalValue) return '*types.Optional'
  if (value instanceof TypeValue) return '*types.Type'
  return value === null ? 'types.Null' : `types.${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

/**
 * Returns true if a value may be an argument of a parameter's type, as far as is known at run time: only the first
 * element of a list is checked.
 */
export function isOfType(value: Value, type: Type): boolean {
  if (type.kind === 'dyn' || type.kind === 'parameter') return true
  const found = typeOf(value)
  if (type.kind === 'object') return value instanceof CelMap
  if (type.kind === 'map') return value instanceof CelMap
  if (type.kind === 'list') return value instanceof CelList && (value.size === 0 || isOfType(value.at(0), type.element))
  if (type.kind === 'opaque') return found.kind === 'opaque' && found.name === type.name
  return found.kind === type.kind
}
