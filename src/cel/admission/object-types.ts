/** CEL types of kinds, created from their schemas. Types of fields are created on first use. */
import type { FieldType, Field as SchemaField, StructType } from '../../machinery/schema.ts'
import { escapeFieldName } from '../syntax/escape.ts'
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  type Field,
  intType,
  listType,
  mapType,
  type ObjectType,
  stringType,
  type Type,
  timestampType,
} from '../types.ts'

const cache = new WeakMap<StructType, StructObject>()

/** Returns the CEL type of a schema's objects. */
export function objectTypeOf(struct: StructType): ObjectType {
  let type = cache.get(struct)
  if (!type) cache.set(struct, (type = new StructObject(struct)))
  return type
}

class StructObject implements ObjectType {
  readonly kind = 'object'
  readonly name: string
  readonly #struct: StructType
  #fields: ReadonlyMap<string, Field> | undefined

  constructor(struct: StructType) {
    this.#struct = struct
    this.name = struct.definition || struct.goName || 'Object'
  }
  get fields(): ReadonlyMap<string, Field> {
    return (this.#fields ??= new Map(
      [...this.#struct.fields].flatMap(([property, field]) => {
        const name = escapeFieldName(property)
        return name === undefined ? [] : [[name, new StructField(property, field)] as const]
      }),
    ))
  }
}

class StructField implements Field {
  readonly property: string
  readonly #field: SchemaField
  #type: Type | undefined

  constructor(property: string, field: SchemaField) {
    this.property = property
    this.#field = field
  }
  get type(): Type {
    return (this.#type ??= typeOf(this.#field.type))
  }
}

function typeOf(type: FieldType): Type {
  switch (type.kind) {
    case 'string':
      if (type.format === 'byte') return bytesType
      return type.format === undefined ? stringType : timestampType
    case 'boolean':
      return boolType
    case 'integer':
      return intType
    case 'number':
      return doubleType
    case 'array':
      return listType(typeOf(type.items))
    case 'map':
      return mapType(stringType, typeOf(type.values))
    case 'struct':
      // An object that may have more than its fields cannot be checked.
      return type.others ? dynType : objectTypeOf(type)
    case 'quantity':
    case 'int-or-string':
    case 'any':
      return dynType
    default:
      return type satisfies never
  }
}
