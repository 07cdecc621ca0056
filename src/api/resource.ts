/**
 * A resource is data: everything particular to a kind stands in one `resource({…})`, and the verbs in
 * `apiserver/endpoints/` are generic. Adding a kind is one file with one such call and one line in its group's index.
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

/** A moment whose distance from now is printed, such as the Age of an object: `prefix` + `5m` + `suffix`. */
export interface Elapsed {
  /** RFC 3339; undefined prints `<unknown>`. */
  readonly since: string | undefined
  readonly prefix?: string
  readonly suffix?: string
}

/** What a cell of a table shows. Lists stand in the few columns whose cells are lists. */
export type Cell = string | number | bigint | boolean | null | Elapsed

/** A column of `kubectl get`, as server-side printing defines it. */
export interface Column<T> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: '' | 'name'
  readonly description: string
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: 0 | 1
  readonly cell: (object: T) => Cell
}

/** A condition of a table row: finished pods carry one. */
export interface RowCondition {
  readonly type: 'Completed'
  readonly status: 'True'
  readonly reason: string
  readonly message: string
}

/**
 * Defaults, in the order they are applied when an object is decoded. The map form sets the value at a path where
 * nothing is: `spec.replicas`, `spec.ports[].protocol`; parents that are missing stay missing unless the path ends
 * in `!` (`spec.strategy!.type` makes `strategy`). The function form changes the object in place.
 */
export type Defaults<T> = Readonly<Record<string, unknown>> | ((object: T) => void)

/** What a kind says about validity. Paths are strings (`spec.containers[0].name`); an empty list means valid. */
export interface Validation<T> {
  /**
   * As `object`, and before it: rules that look at nothing but `spec`. One that has passed is not asked about again
   * while it stays as it is.
   */
  readonly spec?: (object: T) => readonly FieldError[]
  /** On create, and on update before `update`: then `old` is the object as it was, whose invalid values may stay. */
  readonly object?: (object: T, old?: T) => readonly FieldError[]
  /** On create only, after `object`. */
  readonly create?: (object: T) => readonly FieldError[]
  /** What an update may not change. */
  readonly update?: (object: T, old: T) => readonly FieldError[]
  /** Writes through `/status`. */
  readonly status?: (object: T, old: T) => readonly FieldError[]
}

/**
 * How names of a kind are checked: a function of `machinery/validation/names.ts` that returns what is wrong, in words.
 */
export type NameRule = (name: string, generated: boolean) => string[]

/**
 * A subresource served for one kind alone (`/token`, `/binding`, `/approval`, …): its name, kind and verbs as discovery
 * shows them.
 */
export interface SpecialSubresource<T = never> {
  readonly name: string
  readonly kind: string
  /** Where the kind lives if not in the resource's group version (`policy/v1` for Eviction). */
  readonly group?: string
  readonly version?: string
  readonly verbs: readonly ('create' | 'get' | 'update' | 'patch' | 'delete')[]
  /** Given for subresources through which a part of the object itself is written (`/approval`, `/resize`). */
  readonly writes?: PartialWrite<T>
}

/** A write of a part of an object. */
export interface PartialWrite<T> {
  /** Puts back into the client's object what does not go through this subresource. */
  readonly prepare: (object: T, old: T) => void
  readonly validate: (object: T, old: T) => readonly FieldError[]
}

/** Where `/scale` finds its numbers; dotted paths into the object. */
export interface ScalePaths {
  readonly replicas: string
  readonly observed: string
  /** A label selector as map, LabelSelector or string; empty where there is none. */
  readonly selector: string
}

/** Who creates an object, as far as kinds note that. */
export interface Creator {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** What a custom resource brings along: its schema is a definition's, not one of Kubernetes' own. */
export interface CustomKind {
  /** The same text means the same definition. */
  readonly fingerprint: string
  /** Its fields as apply sees them; made when first asked for. */
  readonly type: () => StructType
  /** Removes what the schema does not know, in place. Returns the paths of what went. */
  readonly prune: (object: Record<string, unknown>) => readonly string[]
  /** The first object within it that is not readable as one: such input is refused at once. */
  readonly unreadable: (object: Record<string, unknown>) => FieldError | undefined
  /** The schema as OpenAPI shows it. */
  readonly schema: () => Readonly<Record<string, unknown>> | undefined
}

export interface ResourceDefinition<T extends KubeObject = KubeObject> {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** `${kind}List` unless said. */
  readonly listKind?: string
  readonly plural: string
  /** The kind in lower case unless said. */
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  /** All eight unless said. Nothing but `create` makes it virtual: see `virtual`. */
  readonly verbs?: readonly Verb[]
  /** What discovery lists, where that is not `verbs`. */
  readonly discoveryVerbs?: readonly Verb[]
  /** The model's name in the generated schema (`V1Deployment`); `V1` + kind style names are found without it. */
  readonly model?: string
  readonly custom?: CustomKind

  readonly subresources?: {
    readonly status?: boolean
    readonly scale?: ScalePaths
    readonly special?: readonly SpecialSubresource<T>[]
  }

  /**
   * Where objects are stored: `/registry/` + this + `/`. Upstream's path: the plural, with the group before it only
   * where upstream has it so (`apiregistration.k8s.io/apiservices`, `services/specs`, `minions` for nodes).
   */
  readonly storagePath?: string
  /**
   * Another resource that holds this one's objects (events.k8s.io/v1 Events are core Events): `group/version/plural`.
   * Both functions change version and kind only where shapes differ; they get objects that they may change.
   */
  readonly storedAs?: {
    readonly resource: string
    readonly toStorage?: (object: T) => KubeObject
    readonly fromStorage?: (object: KubeObject) => T
  }
  /**
   * The version that the storage hash of discovery documents is of, where it is not the version that objects are stored
   * in here: Kubernetes stores these objects in a beta version, and tools that compare the hashes of two clusters shall
   * see no difference.
   */
  readonly hashedVersion?: string
  /** Other group versions whose bodies are taken as they are: what older clients send, of the same shape. */
  readonly takesBodiesOf?: readonly string[]
  /**
   * Nothing is stored: the server answers by itself (`tokenreviews`, `componentstatuses`). The handler is found by this
   * name.
   */
  readonly virtual?: boolean

  readonly defaults?: readonly Defaults<T>[]
  readonly validate?: Validation<T>
  /** A DNS subdomain unless said. */
  readonly nameRule?: NameRule
  /**
   * On create, metadata is validated only if nothing else is wrong: kinds whose own validation leaves it out upstream.
   */
  readonly metadataRulesLast?: boolean
  /**
   * Changes the server makes to what a client sent, before validation: fields clients may not set are dropped,
   * fields they left out are kept. Status is handled generically where there is a status subresource.
   */
  readonly prepare?: {
    readonly create?: (object: T, creator: Creator) => void
    readonly update?: (object: T, old: T) => void
    /** `now`: the time of the write, in RFC 3339. */
    readonly status?: (object: T, old: T, now: string) => void
  }
  /**
   * Fields that writes do not set whatever the client sends, so that nobody comes to own them, by subresource (`''` is
   * the object itself); dotted. Those of the metadata are as they were after a write of the status. Unless said:
   * `status` for the object and `spec` for the status, where there is a status subresource.
   */
  readonly resets?: Readonly<Record<string, readonly string[]>>
  /** A status given with a new object counts (nodes): elsewhere it is dropped. */
  readonly keepsStatusOnCreate?: boolean
  /** `metadata.generation` counts changes: of the spec, or of what the function says. */
  readonly generation?: 'spec' | ((object: T, old: T) => boolean)
  /** Nothing new may be created: 405 with these words. */
  readonly refusesCreate?: string
  /** May be created by PUT (leases, for instance). */
  readonly createOnUpdate?: boolean
  /** PUT without resourceVersion is refused (422): events' neighbours such as leases and custom resources. */
  readonly requiresVersionOnUpdate?: boolean

  /** Fields that field selectors know beside `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string | undefined>>
  /** The whole message about a field that is not known, for the few kinds with words of their own. */
  readonly unknownFieldLabel?: (label: string) => string
  readonly columns?: readonly Column<T>[]
  readonly rowConditions?: (object: T) => readonly RowCondition[]

  readonly deletion?: {
    /** DELETE answers with the object even when it is gone at once (pods, service accounts, …). */
    readonly returnsObject?: boolean
    /** Seconds that the object stays after DELETE; `asked` is gracePeriodSeconds, if given. 0 deletes at once. */
    readonly gracePeriod?: (object: T, asked: number | undefined) => number
    /** Whether selectable fields alone tell that `gracePeriod` is 0. */
    readonly isImmediate?: (fields: Readonly<Record<string, string>>, asked: number | undefined) => boolean
    /**
     * The propagation policy when the client asks for none; `unsupported` where none counts, since nothing depends on
     * objects of this kind.
     */
    readonly defaultPropagation?: 'orphan' | 'background' | 'unsupported'
    /** Sent as a Warning header when the client asks for no policy and `defaultPropagation` decides. */
    readonly defaultPropagationWarning?: string
    /** Finalizers outside metadata (namespaces: `spec.finalizers`): while it says true, the object stays. */
    readonly held?: (object: T) => boolean
    /** Held by this finalizer from DELETE on, until whoever looks after it has cleaned up. */
    readonly finalizer?: string
    /** Called on the object when deletion begins (a namespace's phase becomes Terminating). */
    readonly begin?: (object: T) => void
  }

  /** Sent as a Warning header with every request for it. */
  readonly deprecationWarning?: string
  /** Sent as Warning headers with a write of this object; `old` is undefined on create. */
  readonly warnings?: (object: T, old: T | undefined) => readonly string[]
  /**
   * Group versions or resources that are off unless asked for by `--runtime-config`: beta and alpha ones are off
   * without it.
   */
  readonly onByDefault?: boolean
}

/** Declares a resource. The type parameter is the kind's model: `resource<Model<V1Deployment>>({…})`. */
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

/** The column every table begins with. */
export const name: Column<KubeObject> = column('Name', ({ metadata }) => metadata.name ?? '', {
  format: 'name',
  description: 'Name must be unique within a namespace.',
})

/** How long ago the object was created. */
export const age: Column<KubeObject> = column('Age', ({ metadata }) => ({ since: metadata.creationTimestamp }), {
  description: 'How long ago the object was created.',
})

/** What kinds without columns of their own print: Name and Created At. */
export const defaultColumns: readonly Column<KubeObject>[] = [
  name,
  column('Created At', ({ metadata }) => metadata.creationTimestamp ?? '', {
    type: 'date',
    description: 'When the object was created.',
  }),
]

/** Names a resource across groups and versions: `apps/v1/deployments`, `v1/pods`. */
export const resourceKey = ({
  group,
  version,
  plural,
}: Pick<ResourceDefinition, 'group' | 'version' | 'plural'>): string =>
  `${group ? `${group}/` : ''}${version}/${plural}`
