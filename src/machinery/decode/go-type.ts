/** Go's names of types and values in errors of its JSON decoder. */
import type { FieldType } from '../schema.ts'

/** Returns Go's name of a type: `int32`, `map[string]string`, `[]v1.Container`. `named` is the schema's `goType`. */
export function goType(type: FieldType, named?: string): string {
  if (named) return named
  switch (type.kind) {
    case 'string':
      return type.format === 'byte' ? '[]uint8' : 'string'
    case 'boolean':
      return 'bool'
    case 'integer':
      return type.format
    case 'number':
      return 'float64'
    case 'quantity':
      return 'resource.Quantity'
    case 'int-or-string':
      return 'int32'
    case 'any':
      return 'interface {}'
    case 'array':
      return `[]${goType(type.items)}`
    case 'map':
      return `map[string]${goType(type.values)}`
    case 'struct':
      return `${type.definition.split('.').at(-2)}.${type.goName}`
    default:
      return type satisfies never
  }
}

/** Returns the JSON type of a value, with the text of a float: `number 1e3`. */
export const goNumberValue = (value: unknown): string =>
  typeof value === 'symbol' ? `number ${value.description}` : goValue(value)

/** Returns the JSON type of a value: `number`, `string`, `bool`, `array`, `object`. */
export const goValue = (value: unknown): string =>
  Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'bigint' || typeof value === 'symbol'
        ? 'number'
        : typeof value
