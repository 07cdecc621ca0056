/**
 * The APIs that the server serves now: the built-in resources, and those that are added and removed while it runs.
 * Discovery and OpenAPI work from `state`, which is a new object after every change.
 */
import { groupsOf, type ResourceRegistry, type ServedGroup } from '../../api/registry.ts'
import type { ResourceDefinition } from '../../api/resource.ts'
import type { ServedResource } from './served-resource.ts'

/** One state of the APIs. Immutable. */
export interface ApisState {
  readonly resources: readonly ResourceDefinition[]
  /** In the order of `/apis`; the core group, named '', comes first. */
  readonly groups: readonly ServedGroup[]
  readonly group: (group: string) => ServedGroup | undefined
  readonly storageOf: (resource: ResourceDefinition) => ResourceDefinition
}

type Listener = () => void

export class ServedApis {
  readonly #builtIn: ResourceRegistry
  /** By group, version and plural: looked up for every request. */
  readonly #resources = new Map<string, Map<string, Map<string, ServedResource>>>()
  /** Custom resources by owner: the name of their definition. */
  readonly #custom = new Map<string, readonly ServedResource[]>()
  readonly #builtInGroups: ReadonlySet<string>
  readonly #listeners = new Set<Listener>()
  #state: ApisState | undefined

  /** `builtIn` has the definitions, `served` the same resources, ready to be served. */
  constructor(builtIn: ResourceRegistry, served: readonly ServedResource[]) {
    this.#builtIn = builtIn
    this.#builtInGroups = new Set(builtIn.resources.map(({ group }) => group))
    for (const resource of served) this.#add(resource)
  }

  get state(): ApisState {
    return (this.#state ??= this.#makeState())
  }

  /** The resource that a path names. */
  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#resources.get(group)?.get(version)?.get(plural)
  }

  /** All resources that are served now, in all versions. */
  *all(): Generator<ServedResource> {
    for (const versions of this.#resources.values())
      for (const resources of versions.values()) yield* resources.values()
  }

  /** All resources that show the same stored objects as this one, including itself. */
  equivalents({ storage }: ServedResource): readonly ServedResource[] {
    const found: ServedResource[] = []
    for (const versions of this.#resources.values())
      for (const resources of versions.values())
        for (const resource of resources.values()) if (resource.storage === storage) found.push(resource)
    return found
  }

  /** The resource of a kind. */
  ofKind(group: string, version: string, kind: string): ServedResource | undefined {
    for (const resource of this.#resources.get(group)?.get(version)?.values() ?? [])
      if (resource.definition.kind === kind) return resource
    return undefined
  }

  /**
   * True if Kubernetes itself has resources in a group: what it lacks is answered as a missing resource; in other
   * groups as a missing page.
   */
  isBuiltIn(group: string): boolean {
    return this.#builtInGroups.has(group)
  }

  /** Kubernetes' own resources of a group. */
  builtIn(group: string): readonly ResourceDefinition[] {
    return this.#builtInGroups.has(group) ? this.#builtIn.resources.filter((resource) => resource.group === group) : []
  }

  /** Serves these resources for `owner`, in place of its previous ones. */
  setCustom(owner: string, resources: readonly ServedResource[]): void {
    for (const resource of this.#custom.get(owner) ?? []) this.#remove(resource)
    for (const resource of resources) this.#add(resource)
    if (resources.length > 0) this.#custom.set(owner, resources)
    else this.#custom.delete(owner)
    this.#state = undefined
    for (const listener of this.#listeners) listener()
  }

  /** Calls back after each change. The returned function unsubscribes. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A built-in resource of the same name takes precedence. */
  #add(resource: ServedResource): void {
    const { group, version, plural } = resource.definition
    let versions = this.#resources.get(group)
    if (!versions) this.#resources.set(group, (versions = new Map()))
    let resources = versions.get(version)
    if (!resources) versions.set(version, (resources = new Map()))
    if (!resources.has(plural)) resources.set(plural, resource)
  }

  #remove(resource: ServedResource): void {
    const { group, version, plural } = resource.definition
    const versions = this.#resources.get(group)
    const resources = versions?.get(version)
    if (resources?.get(plural) !== resource) return
    resources.delete(plural)
    if (resources.size === 0) versions!.delete(version)
    if (versions!.size === 0) this.#resources.delete(group)
  }

  #makeState(): ApisState {
    const custom = [...this.#custom.values()].flat()
    const definitions = inOrder(custom.map(({ definition }) => definition))
    const storage = new Map(custom.map((resource) => [resource.definition, resource.storage.definition]))
    const resources = [...this.#builtIn.resources, ...definitions]
    const groups = definitions.length > 0 ? groupsOf(resources) : this.#builtIn.groups
    const byName = new Map(groups.map((group) => [group.group, group]))
    return {
      resources,
      groups,
      group: (name) => byName.get(name),
      storageOf: (resource) => storage.get(resource) ?? this.#builtIn.storageOf(resource),
    }
  }
}

/** Sorts custom groups by the names of their APIServices, `v1.example.com`, as all of them have the same priority. */
function inOrder(definitions: readonly ResourceDefinition[]): ResourceDefinition[] {
  const names = new Map<string, string>()
  for (const { group, version } of definitions) {
    const name = `${version}.${group}`
    const first = names.get(group)
    if (first === undefined || name < first) names.set(group, name)
  }
  return [...definitions].sort(
    (a, b) => compare(names.get(a.group)!, names.get(b.group)!) || compare(a.plural, b.plural),
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
