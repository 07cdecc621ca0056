/**
 * The structure of kinds as data, for decoding, field validation, patches, apply and OpenAPI.
 * Built once at start from the generated schema (see `api/schema/`); nothing here depends on a particular kind.
 */

/**
 * A structure with named fields, such as PodSpec. One instance per type: types refer to each other directly and may be
 * recursive.
 */
export interface StructType {
  readonly kind: 'struct'
  /** Name in OpenAPI: `io.k8s.api.core.v1.PodSpec`. */
  readonly definition: string
  /** Go's name of the type, as error messages show it: `PodSpec`. */
  readonly goName: string
  readonly fields: ReadonlyMap<string, Field>
  /**
   * The type of fields that are not in `fields`; undefined if there are none. For custom resources with
   * `additionalProperties` or unknown fields beside properties.
   */
  readonly others?: FieldType
  readonly required: ReadonlySet<string>
  /** `x-kubernetes-map-type: atomic`: apply replaces the object as a whole. */
  readonly atomic: boolean
  /** `x-kubernetes-unions`: at most one of the fields is set, the one that the discriminator names. */
  readonly union?: { readonly discriminator?: string; readonly fields: readonly string[] } | undefined
  /** Go's names of the embedded structs that hold a field, outermost first. Undefined: no struct is embedded. */
  readonly embeddedIn?: (field: string) => readonly string[]
  /** Group, version and kind, if the type is a kind. */
  readonly groupVersionKinds: readonly { readonly group: string; readonly version: string; readonly kind: string }[]
}

export type FieldType =
  | { readonly kind: 'string'; readonly format?: 'byte' | 'date-time' | 'micro-time' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer'; readonly format: 'int32' | 'int64' }
  | { readonly kind: 'number' }
  | { readonly kind: 'quantity' }
  | { readonly kind: 'int-or-string' }
  /**
   * Free-form JSON: RawExtension, FieldsV1, JSONSchemaProps' JSON. Apply takes it as one value. With `deduced`, its
   * maps are granular (custom resources that retain unknown fields). `object` is the type of the objects in it, if they
   * have one (JSONSchemaProps' `items`: a schema, a list of schemas or a boolean).
   */
  | { readonly kind: 'any'; readonly deduced?: boolean; readonly object?: StructType }
  | { readonly kind: 'array'; readonly items: FieldType }
  | { readonly kind: 'map'; readonly values: FieldType }
  | StructType

export interface Field {
  readonly type: FieldType
  /** `x-kubernetes-patch-strategy` for strategic merge patch. Default: `replace`. */
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[]
  readonly patchMergeKey?: string
  /** `x-kubernetes-list-type`. Apply treats lists without it as atomic. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  /** Default of a list's key field or of the field, as OpenAPI publishes it; `written` fields have their zero value. */
  readonly default?: unknown
  /** The values that OpenAPI publishes: of the field, or of the items of its list or map. */
  readonly enum?: readonly string[]
  /**
   * True if an empty value (`""`, 0, false, `{}`, `[]`) remains in the object: for required fields and where Go has a
   * pointer. Elsewhere empty means absent.
   */
  readonly keepsEmpty: boolean
  /**
   * The field is always in the object: Go has a struct or a value without `omitempty` there, so that an absent one
   * shows as zero (`status: {}`, `resources: {}`, `restartCount: 0`, `rules: null`).
   */
  readonly written?: boolean
  /** Go's type for error messages, if the schema does not have it: `v1.PullPolicy`, `v1.ResourceList`. */
  readonly goType?: string
}
