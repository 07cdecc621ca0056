/** The registered resources by their names, each with the resource that it is stored as. */
import type { FeatureGates } from '../../api/features/feature-gates.ts'
import { type ResourceDefinition, resourceKey } from '../../api/resource.ts'
import { ServedResource } from './served-resource.ts'

type Versions = ReadonlyMap<string, ServedResource>

export class ResourceCatalog {
  readonly #definitions: ReadonlyMap<string, ResourceDefinition>
  readonly #features: FeatureGates
  readonly #served = new Map<string, ServedResource>()
  readonly #versions = new WeakMap<ServedResource, Versions>()

  /** `definitions` are all registered ones, served or not: a served version may be stored as one that is not served. */
  constructor(definitions: readonly ResourceDefinition[], features: FeatureGates) {
    this.#definitions = new Map(definitions.map((definition) => [resourceKey(definition), definition]))
    this.#features = features
  }

  /** The resource of a definition, created on the first call. */
  served(definition: ResourceDefinition): ServedResource {
    const key = resourceKey(definition)
    let served = this.#served.get(key)
    if (!served) {
      served = new ServedResource(definition, this.#storageOf(definition), this.#features)
      this.#served.set(key, served)
    }
    return served
  }

  /** All versions of a resource by their names, if their fields differ: the same field may have another path then. */
  versions({ storage }: ServedResource): Versions | undefined {
    let versions = this.#versions.get(storage)
    if (!versions) this.#versions.set(storage, (versions = this.#versionsOf(storage)))
    return versions.size > 0 ? versions : undefined
  }

  /** The resource that holds the objects of a definition; undefined if it is the definition's own. */
  #storageOf(definition: ResourceDefinition): ServedResource | undefined {
    if (!definition.storedAs) return undefined
    const { resource } = definition.storedAs
    const storage = this.#definitions.get(resource)
    if (!storage) throw new Error(`${resourceKey(definition)} is stored as ${resource}, which is not registered`)
    return this.served(storage)
  }

  /** Empty if all versions have the same fields. */
  #versionsOf(storage: ServedResource): Versions {
    const key = resourceKey(storage.definition)
    const others = [...this.#definitions.values()].filter(({ storedAs }) => storedAs?.resource === key)
    if (!others.some(({ storedAs }) => storedAs?.toStorage)) return new Map()
    const all = [storage, ...others.map((definition) => this.served(definition))]
    return new Map(all.map((version) => [version.groupVersion, version]))
  }
}
