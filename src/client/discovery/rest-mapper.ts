/** Finds the resource of a kind, or of a name as in kubectl commands, with the server's discovery. */

import type { RestClient } from '../rest/rest-client.ts'
import { type DiscoveredResource, discover } from './discovery.ts'

/**
 * The error for a kind or resource that the server does not have, after its discovery was read again.
 * @example if (error instanceof NoMatch) console.error('install the CustomResourceDefinition first')
 */
export class NoMatch extends Error {
  constructor(missing: string) {
    super(`the server has no ${missing}`)
    this.name = 'NoMatch'
  }
}

/**
 * Maps kinds and names to resources; caches the server's discovery.
 * @example const { plural } = await new RestMapper(client).forName('deploy')
 */
export class RestMapper {
  readonly #client: RestClient
  #cached: { readonly at: number; readonly resources: Promise<readonly DiscoveredResource[]> } | undefined

  constructor(client: RestClient) {
    this.#client = client
  }

  /** All resources, in the server's order of groups and versions; cached until `invalidate`. */
  resources(): Promise<readonly DiscoveredResource[]> {
    if (!this.#cached) {
      const resources = discover(this.#client).then(({ resources: found }) => found)
      const known = { at: performance.now(), resources }
      this.#cached = known
      resources.catch(() => {
        if (this.#cached === known) this.#cached = undefined
      })
    }
    return this.#cached.resources
  }

  /** The next call reads the server's discovery again. */
  invalidate(): void {
    this.#cached = undefined
  }

  /** The resource of a kind. If `apiVersion` is only a group, its preferred version. Rejects with NoMatch. */
  forKind(apiVersion: string, kind: string): Promise<DiscoveredResource> {
    const [version, group = ''] = apiVersion.split('/').reverse()
    const isOne = (one: DiscoveredResource): boolean =>
      one.kind === kind && one.group === group && one.version === version
    const isOfGroup = (one: DiscoveredResource): boolean =>
      one.kind === kind && one.group === apiVersion && one.preferred
    return this.#find(
      `kind ${JSON.stringify(kind)} in ${JSON.stringify(apiVersion)}`,
      (resources) => resources.find(isOne) ?? resources.find(isOfGroup),
    )
  }

  /**
   * The resource of a name: `deploy`, `deployment`, `deployments.apps`, `deployments.v1.apps` or `Deployment`. Rejects
   * with NoMatch.
   */
  forName(text: string): Promise<DiscoveredResource> {
    const [word = '', ...rest] = text.split('.')
    const qualifier = rest.join('.')
    const isInGroup = ({ group, version, preferred }: DiscoveredResource): boolean => {
      if (qualifier === '') return preferred
      // As kubectl, which accepts a prefix of the group.
      return `${version}.${group}` === qualifier || (preferred && group.startsWith(qualifier))
    }
    return this.#find(`resource ${JSON.stringify(text)}`, (resources) => {
      const lower = word.toLowerCase()
      const candidates = resources.filter(isInGroup)
      const findCandidate = (is: (one: DiscoveredResource) => boolean): DiscoveredResource | undefined =>
        candidates.find(is)
      return (
        findCandidate(({ plural }) => plural === lower) ??
        findCandidate(({ singular, kind }) => singular === lower || kind.toLowerCase() === lower) ??
        findCandidate(({ shortNames }) => shortNames.includes(lower))
      )
    })
  }

  /** Reads the discovery again on a miss: the resource may be newer than the cache. */
  async #find(
    missing: string,
    find: (resources: readonly DiscoveredResource[]) => DiscoveredResource | undefined,
  ): Promise<DiscoveredResource> {
    const startedAt = performance.now()
    const found = find(await this.resources())
    if (found) return found
    if (this.#cached && this.#cached.at < startedAt) this.invalidate()
    const refreshed = find(await this.resources())
    if (!refreshed) throw new NoMatch(missing)
    return refreshed
  }
}
