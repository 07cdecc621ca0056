/**
 * A resource as the server serves it: the definition with everything pre-computed that requests need.
 * `storage` is the resource that holds the objects: itself, or another version's or group's.
 */

import { compileDefaults } from '../../api/defaults.ts'
import { withFeatures } from '../../api/features/current.ts'
import { defaultFeatures, type FeatureGates } from '../../api/features/feature-gates.ts'
import { fieldRemover, type RemoveFields } from '../../api/features/fields/remove-fields.ts'
import type { ResourceDefinition } from '../../api/resource.ts'
import { schemaType } from '../../api/schema/index.ts'
import { nilCollections } from '../../machinery/decode/index.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'
import type { GroupNamed } from '../../machinery/status-error.ts'
import { type KeyRange, prefixRange } from '../../storage/store.ts'
import type { OtherVersion } from '../apply/index.ts'
import type { ObjectConversion } from './conversion/object-conversion.ts'
import { WatchTraffic } from './watch-traffic.ts'
import type { WriteGuard } from './write/write-guard.ts'
import type { WriteHook } from './write/write-hook.ts'

/** A value of the store in the current form, in the version of `resource`. */
export interface StoredForm {
  readonly resource: ServedResource
  /** The value itself if it has the current form already. */
  readonly value: Buffer
}

export class ServedResource {
  readonly definition: ResourceDefinition
  readonly storage: ServedResource
  /** `apps/v1`, or `v1`. */
  readonly groupVersion: string
  readonly groupResource: GroupNamed
  readonly groupKind: GroupNamed
  readonly listKind: string
  readonly namespaced: boolean
  /** The JSON with which every object begins: `{"kind":"Pod","apiVersion":"v1","metadata":{`. */
  readonly headText: string
  readonly head: Buffer
  /**
   * The offset at which list items begin: at `"metadata"`, as they omit kind and version; custom resources have them.
   */
  readonly itemOffset: number
  readonly prefix: string
  readonly verbs: ReadonlySet<string>
  readonly features: FeatureGates
  readonly watchTraffic = new WatchTraffic()
  /** Removes fields of disabled features before an object is validated; undefined if the kind has none. */
  readonly removeFields: RemoveFields | undefined
  /** Set once at start, for the few kinds that need one. */
  writeHook: WriteHook | undefined
  /** Set once at start, for the few kinds that have further checks for writers. */
  writeGuard: WriteGuard | undefined
  /** Set once at start: the store deletes its objects this many seconds after their last write. */
  ttlSeconds: number | undefined
  /** Converts a value from the store to the current form; set for custom resources. Throws StatusError. */
  readStored: ((value: Buffer) => StoredForm) | undefined
  /** Set if objects of other versions are converted to this one by a webhook. */
  conversion: ObjectConversion | undefined
  /** Custom resources: the other versions that field managers may have written in. */
  otherVersion: ((apiVersion: string) => OtherVersion | undefined) | undefined
  #type: StructType | undefined
  #defaults: ((object: KubeObject) => void) | undefined
  #asStored: ((object: KubeObject) => void) | undefined

  constructor(definition: ResourceDefinition, storage?: ServedResource, features = defaultFeatures) {
    this.definition = definition
    this.storage = storage ?? this
    this.features = features
    this.removeFields = definition.custom ? undefined : fieldRemover(definition, features)
    this.groupVersion = definition.group ? `${definition.group}/${definition.version}` : definition.version
    this.groupResource = { group: definition.group, name: definition.plural }
    this.groupKind = { group: definition.group, name: definition.kind }
    this.listKind = definition.listKind ?? `${definition.kind}List`
    this.namespaced = definition.scope === 'Namespaced'
    const type = `{"kind":${JSON.stringify(definition.kind)},"apiVersion":${JSON.stringify(this.groupVersion)},`
    this.headText = `${type}"metadata":{`
    this.head = Buffer.from(this.headText)
    this.itemOffset = definition.custom ? 1 : Buffer.byteLength(type)
    this.prefix = `/registry/${definition.storagePath ?? definition.plural}/`
    this.verbs = new Set(
      definition.verbs ?? ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    )
  }

  /** The schema of its kind; built on first access. */
  get type(): StructType {
    return (this.#type ??= this.definition.custom?.type() ?? schemaType(this.definition))
  }

  /** Fills in defaults for fields that the client omitted. */
  get applyDefaults(): (object: KubeObject) => void {
    return (this.#defaults ??= this.#compileDefaults())
  }

  #compileDefaults(): (object: KubeObject) => void {
    const apply = compileDefaults(this.definition.defaults ?? [])
    return this.features.areDefault ? apply : (object) => this.withFeatures(() => apply(object))
  }

  /** Calls a synchronous function of the kind, which may check feature gates. */
  withFeatures<T>(call: () => T): T {
    return this.features.areDefault ? call() : withFeatures(this.features, call)
  }

  /**
   * Changes a decoded object to what reading it back from the store gives: empty collections that Go writes as null
   * become null.
   */
  get asStored(): (object: KubeObject) => void {
    return (this.#asStored ??= (this.definition.custom ? undefined : nilCollections(this.type)) ?? (() => {}))
  }

  key(namespace: string, name: string): string {
    const { prefix } = this.storage
    return this.namespaced ? `${prefix}${namespace}/${name}` : prefix + name
  }

  /** All keys of a namespace, or of all namespaces. */
  range(namespace: string): KeyRange {
    const { prefix } = this.storage
    return prefixRange(this.namespaced && namespace ? `${prefix}${namespace}/` : prefix)
  }
}
