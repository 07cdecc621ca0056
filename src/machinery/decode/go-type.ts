/** Go's names of types and values, as its JSON decoder's errors show them. */
import type { FieldType } from '../schema.ts'

/** The type as Go prints it: `int32`, `map[string]string`, `[]v1.Container`. `named` is what the schema's facts say. */
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

/** What stands in the JSON where Go reads a number by its text: `number 1e3`. */
export const goNumberValue = (value: unknown): string =>
  typeof value === 'symbol' ? `number ${value.description}` : goValue(value)

/** What stands in the JSON: `number`, `string`, `bool`, `array`, `object`. */
export const goValue = (value: unknown): string =>
  Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'bigint' || typeof value === 'symbol'
        ? 'number'
        : typeof value
