/**
 * A resource is data: one `resource({…})` defines all that is specific to a kind, and the verbs in
 * `apiserver/endpoints/` are generic. A new kind needs one file with such a call and one line in its group's index.
 */

import type { KubeObject } from '../machinery/object.ts'
import type { StructType } from '../machinery/schema.ts'
import type { FieldError } from '../machinery/validation/field-error.ts'

export type Verb = 'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deletecollection'
export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]

/** A time that is printed as the duration since then, such as an object's Age: `prefix` + `5m` + `suffix`. */
export interface Elapsed {
  /** RFC 3339; undefined prints `<unknown>`. */
  readonly since: string | undefined
  readonly prefix?: string
  readonly suffix?: string
}

/** The value of a table cell. */
export type Cell = string | number | bigint | boolean | null | Elapsed

/** A column of `kubectl get`, as server-side printing defines it. */
export interface Column<T> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: '' | 'name' | 'quantity' | 'duration'
  readonly description: string
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: 0 | 1
  readonly cell: (object: T) => Cell
}

/** A condition of a table row: finished pods have one. */
export interface RowCondition {
  readonly type: 'Completed'
  readonly status: 'True'
  readonly reason: string
  readonly message: string
}

/**
 * Defaults that are applied when an object is decoded. The map form sets absent fields by path: `spec.replicas`,
 * `spec.ports[].protocol`. Missing parents stay missing unless marked with `!` (`spec.strategy!.type` creates
 * `strategy`). The function form changes the object in place.
 */
export type Defaults<T> = Readonly<Record<string, unknown>> | ((object: T) => void)

/** The validation of a kind. Paths are strings (`spec.containers[0].name`); an empty list means valid. */
export interface Validation<T> {
  /**
   * Rules that read nothing but `spec`, called before `object`. An unchanged spec that has passed is not validated
   * again.
   */
  readonly spec?: (object: T) => readonly FieldError[]
  /** On create, and on update before `update`. On update, `old` is the previous object; its invalid values may stay. */
  readonly object?: (object: T, old?: T) => readonly FieldError[]
  /** On create only, after `object`. */
  readonly create?: (object: T) => readonly FieldError[]
  /** On update only: rules about changes, such as immutable fields. */
  readonly update?: (object: T, old: T) => readonly FieldError[]
  /** On writes through `/status`. */
  readonly status?: (object: T, old: T) => readonly FieldError[]
}

/** Validates names of a kind. Returns error messages; see `machinery/validation/names.ts`. */
export type NameRule = (name: string, generated: boolean) => string[]

/** A subresource of one kind only (`/token`, `/binding`, `/approval`, …), with name, kind and verbs as in discovery. */
export interface SpecialSubresource<T = never> {
  readonly name: string
  readonly kind: string
  /** The kind's group, if not that of the resource (`policy` for Eviction). */
  readonly group?: string
  readonly version?: string
  readonly verbs: readonly ('create' | 'get' | 'update' | 'patch' | 'delete')[]
  /** Present if the subresource writes a part of the object itself (`/approval`, `/resize`). */
  readonly writes?: PartialWrite<T>
}

/** A write of a part of an object. */
export interface PartialWrite<T> {
  /** Resets fields of the client's object that this subresource does not write. */
  readonly prepare: (object: T, old: T) => void
  readonly validate: (object: T, old: T) => readonly FieldError[]
}

/** The fields that `/scale` reads and writes, as dotted paths into the object. */
export interface ScalePaths {
  readonly replicas: string
  readonly observed: string
  /** Path of a label selector (map, LabelSelector or string). Empty if the kind has none. */
  readonly selector: string
}

/** The user who creates an object, for kinds that store it. */
export interface Creator {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The schema of a custom resource, compiled from its definition. */
export interface CustomKind {
  /** Equal for equal definitions. */
  readonly fingerprint: string
  /** The field types for server-side apply, built on first use. */
  readonly type: () => StructType
  /** Removes fields that are not in the schema, in place. Returns their paths. */
  readonly prune: (object: Record<string, unknown>) => readonly string[]
  /** Returns the error of the first embedded object that cannot be decoded; such requests are rejected. */
  readonly decodeError: (object: Record<string, unknown>) => FieldError | undefined
  /** The schema in OpenAPI form. */
  readonly schema: () => Readonly<Record<string, unknown>> | undefined
}

export interface ResourceDefinition<T extends KubeObject = KubeObject> {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Default: `${kind}List`. */
  readonly listKind?: string
  readonly plural: string
  /** Default: the kind in lower case. */
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  /** Default: all eight. */
  readonly verbs?: readonly Verb[]
  /** The verbs that discovery lists. Default: `verbs`. */
  readonly discoveryVerbs?: readonly Verb[]
  /** The model's name in the generated schema (`V1Deployment`). Default: version + kind. */
  readonly model?: string
  readonly custom?: CustomKind

  readonly subresources?: {
    readonly status?: boolean
    readonly scale?: ScalePaths
    readonly special?: readonly SpecialSubresource<T>[]
  }

  /**
   * The key prefix of stored objects, between `/registry/` and `/`, as in upstream's etcd
   * (`apiregistration.k8s.io/apiservices`, `services/specs`, `minions` for nodes). Default: the plural.
   */
  readonly storagePath?: string
  /**
   * The resource that stores this one's objects, as `group/version/plural` (events.k8s.io/v1 Events are stored as core
   * Events), with conversions if the shapes differ. Both functions may change the object that they get.
   */
  readonly storedAs?: {
    readonly resource: string
    readonly toStorage?: (object: T) => KubeObject
    readonly fromStorage?: (object: KubeObject) => T
  }
  /**
   * The version that the storage hash in discovery is computed from. Default: the stored version. Kubernetes stores
   * these objects in a beta version; tools that compare the hashes of two clusters must see no difference.
   */
  readonly storageHashVersion?: string
  /** Other group versions that bodies may have: older clients send them, in the same shape. */
  readonly acceptedBodyVersions?: readonly string[]
  /**
   * True if nothing is stored and the server computes the response (`tokenreviews`, `componentstatuses`). The handler
   * is looked up by the kind.
   */
  readonly virtual?: boolean
  /** The OpenAPI schema of a kind that the generated schemas lack. */
  readonly schema?: Readonly<Record<string, unknown>>

  readonly defaults?: readonly Defaults<T>[]
  readonly validate?: Validation<T>
  /** Default: a DNS subdomain. */
  readonly nameRule?: NameRule
  /**
   * True if metadata is validated on create only when nothing else is wrong, as for kinds whose validation upstream
   * omits it.
   */
  readonly validatesMetadataLast?: boolean
  /**
   * Changes the client's object before validation: drops fields that clients may not set and keeps fields that they
   * omit. The status is handled generically if there is a status subresource.
   */
  readonly prepare?: {
    readonly create?: (object: T, creator: Creator) => void
    readonly update?: (object: T, old: T) => void
    /** `now` is the time of the write, in RFC 3339. */
    readonly status?: (object: T, old: T, now: string) => void
  }
  /**
   * Fields that a write ignores, so that no field manager owns them: dotted paths by subresource (`''` is the object
   * itself). A write of the status keeps the listed metadata fields. Default, if there is a status subresource:
   * `status` for the object, `spec` for the status.
   */
  readonly resetFields?: Readonly<Record<string, readonly string[]>>
  /** True if a create keeps the client's status (nodes). Default: it is dropped. */
  readonly acceptsStatusOnCreate?: boolean
  /**
   * Present if the kind has a `metadata.generation`: it counts changes of the spec, or those the function returns true
   * for.
   */
  readonly generation?: 'spec' | ((object: T, old: T) => boolean)
  /** Present if creates fail: the message of the 405. */
  readonly createNotAllowedMessage?: string
  /** True if PUT creates a missing object (leases, for instance). */
  readonly createOnUpdate?: boolean
  /** True if PUT without resourceVersion is rejected with 422 (leases, custom resources). */
  readonly requiresVersionOnUpdate?: boolean

  /** Fields that field selectors support besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string | undefined>>
  /** Returns the message for an unsupported field selector, for kinds with a message of their own. */
  readonly unknownFieldLabel?: (label: string) => string
  readonly columns?: readonly Column<T>[]
  readonly rowConditions?: (object: T) => readonly RowCondition[]

  readonly deletion?: {
    /** True if DELETE responds with the object even if it was deleted immediately (pods, service accounts, …). */
    readonly returnsObject?: boolean
    /** Returns the grace period in seconds; 0 deletes immediately. `requested` is gracePeriodSeconds, if given. */
    readonly gracePeriod?: (object: T, requested: number | undefined) => number
    /** Returns true if the selectable fields alone imply that `gracePeriod` is 0. */
    readonly isImmediate?: (fields: Readonly<Record<string, string>>, requested: number | undefined) => boolean
    /**
     * The default propagation policy. `unsupported` if the policy has no effect, since nothing depends on objects of
     * this kind.
     */
    readonly defaultPropagation?: 'orphan' | 'background' | 'unsupported'
    /** Sent as a Warning header if the client gives no policy and `defaultPropagation` decides. */
    readonly defaultPropagationWarning?: string
    /** Returns true while finalizers outside of the metadata retain the object (`spec.finalizers` of namespaces). */
    readonly hasFinalizers?: (object: T) => boolean
    /** A finalizer that DELETE adds; the controller of the kind removes it after its cleanup. */
    readonly finalizer?: string
    /** Called on the object when deletion begins (a namespace's phase becomes Terminating). */
    readonly begin?: (object: T) => void
  }

  /** Sent as a Warning header with every request for it. */
  readonly deprecationWarning?: string
  /** Sent as Warning headers with a write of this object; `old` is undefined on create. */
  readonly warnings?: (object: T, old: T | undefined) => readonly string[]
  /**
   * False if the resource is served only when `--runtime-config` enables it: beta and alpha versions. Default: true.
   */
  readonly enabledByDefault?: boolean
}

/** Defines a resource. The type parameter is the kind's model: `resource<Model<V1Deployment>>({…})`. */
export function resource<T extends KubeObject>(definition: ResourceDefinition<T>): ResourceDefinition {
  return definition as unknown as ResourceDefinition
}

type ColumnOptions = Partial<Pick<Column<unknown>, 'type' | 'format' | 'description' | 'priority'>>

/** A column that is always shown. */
export const column = <T>(name: string, cell: (object: T) => Cell, options: ColumnOptions = {}): Column<T> => ({
  name,
  type: 'string',
  format: '',
  description: '',
  priority: 0,
  ...options,
  cell,
})

/** A column shown with `-o wide`. */
export const wide = <T>(name: string, cell: (object: T) => Cell, options: ColumnOptions = {}): Column<T> =>
  column(name, cell, { ...options, priority: 1 })

/** The first column of every table. */
export const name: Column<KubeObject> = column('Name', ({ metadata }) => metadata.name ?? '', {
  format: 'name',
  description: 'Name must be unique within a namespace.',
})

/** How long ago the object was created. */
export const age: Column<KubeObject> = column('Age', ({ metadata }) => ({ since: metadata.creationTimestamp }), {
  description: 'How long ago the object was created.',
})

/** The columns of kinds without columns of their own: Name and Created At. */
export const defaultColumns: readonly Column<KubeObject>[] = [
  name,
  column('Created At', ({ metadata }) => metadata.creationTimestamp ?? '', {
    type: 'date',
    description: 'When the object was created.',
  }),
]

/** Returns a unique key of a resource: `apps/v1/deployments`, `v1/pods`. */
export const resourceKey = ({
  group,
  version,
  plural,
}: Pick<ResourceDefinition, 'group' | 'version' | 'plural'>): string =>
  `${group ? `${group}/` : ''}${version}/${plural}`
