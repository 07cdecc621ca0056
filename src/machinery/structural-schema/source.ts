/** Schemas of custom resources in source form: apiextensions' JSONSchemaProps, a dialect of OpenAPI v3. */

export interface SchemaSource {
  readonly id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly externalDocs?: unknown
  readonly example?: unknown
  readonly type?: string
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly multipleOf?: number
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly maxItems?: number
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly maxProperties?: number
  readonly minProperties?: number
  readonly required?: readonly string[]
  readonly items?: SchemaSource | readonly SchemaSource[]
  readonly properties?: { readonly [name: string]: SchemaSource }
  readonly additionalProperties?: SchemaSource | boolean
  readonly patternProperties?: { readonly [name: string]: SchemaSource }
  readonly additionalItems?: SchemaSource | boolean
  readonly dependencies?: { readonly [name: string]: SchemaSource | readonly string[] }
  readonly definitions?: { readonly [name: string]: SchemaSource }
  readonly allOf?: readonly SchemaSource[]
  readonly anyOf?: readonly SchemaSource[]
  readonly oneOf?: readonly SchemaSource[]
  readonly not?: SchemaSource
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** A rule in CEL (KEP-2876). */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** Returns the schema of a list's items. A list of schemas is not supported. */
export const itemsOf = ({ items }: SchemaSource): SchemaSource | undefined =>
  items === undefined || items === null || isList(items) ? undefined : items

/** Returns the schema of `additionalProperties`, if there is one. */
export const othersOf = ({ additionalProperties: others }: SchemaSource): SchemaSource | undefined =>
  typeof others === 'object' && others !== null ? others : undefined

/** Returns the schema of a property by name. Ignores inherited properties. */
export const propertyOf = ({ properties }: SchemaSource, name: string): SchemaSource | undefined =>
  properties && Object.hasOwn(properties, name) ? properties[name] : undefined

export const propertiesOf = ({ properties }: SchemaSource): readonly (readonly [string, SchemaSource])[] =>
  properties ? Object.entries(properties) : []

/** Yields all schemas directly in a schema, with their paths. */
export function* children(
  schema: SchemaSource,
  path: string,
): Generator<readonly [schema: SchemaSource, path: string]> {
  for (const [name, property] of propertiesOf(schema)) yield [property, `${path}.properties[${name}]`]
  const others = othersOf(schema)
  if (others) yield [others, `${path}.additionalProperties`]
  const { items } = schema
  if (isList(items)) for (const [i, item] of items.entries()) yield [item as SchemaSource, `${path}.items[${i}]`]
  else if (items) yield [items as SchemaSource, `${path}.items`]
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const)
    for (const [i, branch] of (schema[junctor] ?? []).entries()) yield [branch, `${path}.${junctor}[${i}]`]
  if (schema.not) yield [schema.not, `${path}.not`]
}

/** Returns true if `has` is true for a schema or any schema in it. */
export function anySchema(schema: SchemaSource, has: (schema: SchemaSource) => boolean): boolean {
  if (has(schema)) return true
  for (const [child] of children(schema, '')) if (anySchema(child, has)) return true
  return false
}
