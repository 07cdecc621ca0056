/**
 * Which resource an owner reference means by its version and kind, and which resources are watched: what discovery told
 * last.
 */
import { type DiscoveredResource, type Discovery, supports } from '../../client/discovery/discovery.ts'
import { apiVersionOf } from '../../client/resource.ts'

/** Events name objects, but do not keep them; there are too many of them to follow. */
const ignored = new Set(['/events', 'events.k8s.io/events'])

/** Nobody can say whether an object of such a kind is there. */
export class UnknownKind extends Error {
  constructor(apiVersion: string, kind: string) {
    super(`the server has no kind ${kind} in ${apiVersion}`)
  }
}

export class Kinds {
  #resources = new Map<string, DiscoveredResource>()

  /** Takes note of what there is now; whether a kind is there that was not. */
  replace({ resources }: Discovery): boolean {
    const before = this.#resources
    this.#resources = new Map(
      resources
        .filter(({ plural }) => !plural.includes('/'))
        .map((resource) => [keyOf(apiVersionOf(resource), resource.kind), resource]),
    )
    return [...this.#resources.keys()].some((key) => !before.has(key))
  }

  /** Throws an UnknownKind. */
  resource(apiVersion: string, kind: string): DiscoveredResource {
    const resource = this.#resources.get(keyOf(apiVersion, kind))
    if (!resource) throw new UnknownKind(apiVersion, kind)
    return resource
  }
}

const keyOf = (apiVersion: string, kind: string): string => `${apiVersion}/${kind}`

/** Those whose objects can own, be owned and be collected. */
export const collectable = ({ resources }: Discovery): DiscoveredResource[] =>
  resources.filter(
    (resource) =>
      resource.preferred &&
      supports(resource, 'delete', 'list', 'watch') &&
      !ignored.has(`${resource.group}/${resource.plural}`),
  )
