/**
 * CEL's types. A type is plain data; the simple ones are constants, so that the common comparison is `===`. Types may
 * carry the greatest size that their declaration allows (`maxLength`, `maxItems`, `maxProperties`): cost estimates read
 * it, nothing else does.
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
   * Of strings and bytes, and of what may be either: the greatest length, in characters or bytes. Absent: nothing is
   * known.
   */
  readonly maxElements?: number
  /** How messages call it, where that is not its kind. */
  readonly shownAs?: string
}

export interface ListType {
  readonly kind: 'list'
  readonly element: Type
  readonly maxElements?: number
  /**
   * What makes two lists the same: nothing said, the order counts. Values know it, types that differ in it fit each
   * other.
   */
  readonly identity?: ListIdentity
}

/** A set has everything once; a list with keys knows its elements by these fields (`x-kubernetes-list-type`). */
export type ListIdentity = { readonly kind: 'set' } | { readonly kind: 'keys'; readonly keys: readonly string[] }

export interface MapType {
  readonly kind: 'map'
  readonly key: Type
  readonly value: Type
  readonly maxElements?: number
  /**
   * Whether estimates know the size of a member also where it is picked like a field (`map.member`): upstream says so
   * of devices alone.
   */
  readonly membersAsFields?: boolean
}

/**
 * Something with named fields, such as what a structural schema with `properties` declares. Two are the same if their
 * names are.
 */
export interface ObjectType {
  readonly kind: 'object'
  readonly name: string
  /** By the name that expressions use. A getter, if the type contains itself. */
  readonly fields: ReadonlyMap<string, Field>
  readonly maxElements?: number
}

export interface Field {
  readonly type: Type
  /** The member of the JSON object, if expressions spell it otherwise (`__dash__`). */
  readonly property?: string
}

/** A type that only its library looks into: `kubernetes.Quantity`, `net.IP`, `optional_type(T)`. */
export interface OpaqueType {
  readonly kind: 'opaque'
  readonly name: string
  readonly parameters: readonly Type[]
}

/** The type of a type: `type(1)` is of `type(int)`. */
export interface TypeOfType {
  readonly kind: 'type'
  readonly of: Type
}

/** Stands for any type in the signature of an overload: the same name, the same type. */
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
/** What a faulty sub-expression has: it fits everywhere, so that one fault is told once. */
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
/** A string or bytes type with a greatest length. */
export const sized = (type: SimpleType, maxElements: number | undefined): SimpleType =>
  maxElements === undefined ? type : { ...type, maxElements }

export const isOptionalType = (type: Type): type is OpaqueType =>
  type.kind === 'opaque' && type.name === 'optional_type'

const wellKnown: Partial<Record<Type['kind'], string>> = {
  timestamp: 'timestamp',
  duration: 'duration',
  error: '!error!',
}

/** As error messages show a type: `list(string)`, `map(string, dyn)`, `google.protobuf.Timestamp` is `timestamp`. */
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

/** The name of a type at run time, without parameters: what `string(type(x))` and `no such overload` tell. */
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
