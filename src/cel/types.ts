/**
 * CEL's types. A type is plain data; the simple ones are constants, so that the common comparison is `===`. Types may
 * have the maximum size of their declaration (`maxLength`, `maxItems`, `maxProperties`), which only cost estimates use.
 */

export type Type = SimpleType | ListType | MapType | ObjectType | OpaqueType | TypeOfType | TypeParameter

export type SimpleKind =
  | 'dyn'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'timestamp'
  | 'error'

export interface SimpleType {
  readonly kind: SimpleKind
  /**
   * The maximum length of strings, bytes, and values that may be either, in characters or bytes. Undefined: unknown.
   */
  readonly maxElements?: number
  /** The name in messages. Default: the kind. */
  readonly shownAs?: string
}

export interface ListType {
  readonly kind: 'list'
  readonly element: Type
  readonly maxElements?: number
  /**
   * The identity of elements, by which lists are compared. Default: lists are compared in order. Values have it, too;
   * it does not affect assignability.
   */
  readonly identity?: ListIdentity
}

/** A set, or a list whose elements are identified by fields (`x-kubernetes-list-type`). */
export type ListIdentity = { readonly kind: 'set' } | { readonly kind: 'keys'; readonly keys: readonly string[] }

export interface MapType {
  readonly kind: 'map'
  readonly key: Type
  readonly value: Type
  readonly maxElements?: number
  /**
   * True if estimates use the size of members that are selected like fields (`map.member`), as upstream does for
   * devices only.
   */
  readonly membersAsFields?: boolean
}

/**
 * A type with named fields, such as a structural schema with `properties`. Two are equal if their names are equal.
 */
export interface ObjectType {
  readonly kind: 'object'
  readonly name: string
  /** Fields by their names in expressions. A getter for recursive types. */
  readonly fields: ReadonlyMap<string, Field>
  readonly maxElements?: number
}

export interface Field {
  readonly type: Type
  /** The member of the JSON object, if its name in expressions differs (`__dash__`). */
  readonly property?: string
}

/** A type whose values only its library can access: `kubernetes.Quantity`, `net.IP`, `optional_type(T)`. */
export interface OpaqueType {
  readonly kind: 'opaque'
  readonly name: string
  readonly parameters: readonly Type[]
}

/** The type of a type: `type(1)` has the type `type(int)`. */
export interface TypeOfType {
  readonly kind: 'type'
  readonly of: Type
}

/** A placeholder for any type in the signature of an overload. The same name means the same type. */
export interface TypeParameter {
  readonly kind: 'parameter'
  readonly name: string
}

export const dynType: SimpleType = { kind: 'dyn' }
export const nullType: SimpleType = { kind: 'null' }
export const boolType: SimpleType = { kind: 'bool' }
export const intType: SimpleType = { kind: 'int' }
export const uintType: SimpleType = { kind: 'uint' }
export const doubleType: SimpleType = { kind: 'double' }
export const stringType: SimpleType = { kind: 'string' }
export const bytesType: SimpleType = { kind: 'bytes' }
export const durationType: SimpleType = { kind: 'duration' }
export const timestampType: SimpleType = { kind: 'timestamp' }
/** The type of an invalid sub-expression. It is assignable to all types, so that an error is reported once. */
export const errorType: SimpleType = { kind: 'error' }

export const listType = (element: Type, maxElements?: number): ListType => ({ kind: 'list', element, maxElements })
export const mapType = (key: Type, value: Type, maxElements?: number): MapType => ({
  kind: 'map',
  key,
  value,
  maxElements,
})
export const objectType = (name: string, fields: Readonly<Record<string, Type>>): ObjectType => ({
  kind: 'object',
  name,
  fields: new Map(Object.entries(fields).map(([field, type]) => [field, { type }])),
})
export const opaqueType = (name: string, ...parameters: Type[]): OpaqueType => ({ kind: 'opaque', name, parameters })
export const optionalType = (of: Type): OpaqueType => opaqueType('optional_type', of)
export const typeType = (of: Type): TypeOfType => ({ kind: 'type', of })
export const typeParameter = (name: string): TypeParameter => ({ kind: 'parameter', name })
/** Returns a string or bytes type with a maximum length. */
export const sized = (type: SimpleType, maxElements: number | undefined): SimpleType =>
  maxElements === undefined ? type : { ...type, maxElements }

export const isOptionalType = (type: Type): type is OpaqueType =>
  type.kind === 'opaque' && type.name === 'optional_type'

const wellKnown: Partial<Record<Type['kind'], string>> = {
  timestamp: 'timestamp',
  duration: 'duration',
  error: '!error!',
}

/** Formats a type for error messages: `list(string)`, `map(string, dyn)`, `timestamp`. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.element)})`
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`
    case 'object':
      return type.name
    case 'opaque':
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(', ')})`
    case 'type':
      return type.of.kind === 'dyn' ? 'type' : `type(${formatType(type.of)})`
    case 'parameter':
      return type.name
    default:
      return type.shownAs ?? wellKnown[type.kind] ?? type.kind
  }
}

/** Returns the name of a type at run time, without parameters, as in `string(type(x))`. */
export function runtimeTypeName(type: Type): string {
  switch (type.kind) {
    case 'object':
    case 'opaque':
      return type.name
    case 'null':
      return 'null_type'
    case 'duration':
      return 'google.protobuf.Duration'
    case 'timestamp':
      return 'google.protobuf.Timestamp'
    case 'parameter':
      return type.name
    default:
      return type.kind
  }
}
