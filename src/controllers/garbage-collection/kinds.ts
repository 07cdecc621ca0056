/** Maps the version and kind of owner references to resources, from the last discovery. */
import { type DiscoveredResource, type Discovery, supports } from '../../client/discovery/discovery.ts'
import { apiVersionOf } from '../../client/resource.ts'

/** Events have no owners and are too many to watch. */
const ignoredResources = new Set(['/events', 'events.k8s.io/events'])

/** Objects of such a kind cannot be looked up. */
export class UnknownKind extends Error {
  constructor(apiVersion: string, kind: string) {
    super(`the server has no kind ${kind} in ${apiVersion}`)
  }
}

export class Kinds {
  #resources = new Map<string, DiscoveredResource>()

  /** Replaces the resources; returns true if a kind was added. */
  replace({ resources }: Discovery): boolean {
    const previous = this.#resources
    this.#resources = new Map(
      resources
        .filter(({ plural }) => !plural.includes('/'))
        .map((resource) => [keyOf(apiVersionOf(resource), resource.kind), resource]),
    )
    return [...this.#resources.keys()].some((key) => !previous.has(key))
  }

  /** Returns the resource of a kind. Throws an UnknownKind. */
  resource(apiVersion: string, kind: string): DiscoveredResource {
    const resource = this.#resources.get(keyOf(apiVersion, kind))
    if (!resource) throw new UnknownKind(apiVersion, kind)
    return resource
  }
}

const keyOf = (apiVersion: string, kind: string): string => `${apiVersion}/${kind}`

/** Returns the resources whose objects are garbage-collected. */
export const collectable = ({ resources }: Discovery): DiscoveredResource[] =>
  resources.filter(
    (resource) =>
      resource.preferred &&
      supports(resource, 'delete', 'list', 'watch') &&
      !ignoredResources.has(`${resource.group}/${resource.plural}`),
  )
