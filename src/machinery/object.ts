/** The type and metadata of all Kubernetes objects. Timestamps are RFC 3339 strings, as on the wire. */

/** A reference to an owner; the garbage collector deletes objects without owners. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** One entry of `metadata.managedFields` (KEP-555). */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: FieldsV1
  subresource?: string
}

/** A set of fields as a trie of `f:name`, `k:{…}`, `v:…`, `i:N` and `.` members. */
export interface FieldsV1 {
  [element: string]: FieldsV1
}

/** The metadata of an object, as it is in JSON. */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

/** An object of any kind. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** An object whose other fields are read dynamically. */
export type Unstructured = KubeObject & Record<string, unknown>

/** A type of `@kubernetes/client-node` as it is on the wire: dates are strings. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T as WireName<Key>]: Wire<T[Key]> }
      : T

/** The client's names avoid JavaScript's keywords (`_from`, `_default`, `_enum`); the wire does not. */
type WireName<Key> = Key extends `_${infer Name}` ? Name : Key

/** The TypeScript type of a kind: the client's model in its wire form, with required type and metadata. */
export type Model<T> = Omit<Wire<T>, 'apiVersion' | 'kind' | 'metadata'> & KubeObject
