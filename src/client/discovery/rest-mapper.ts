/** Finds the resource of a kind, or of a word that people use for it, by what the server says of itself (discovery). */

import type { RestClient } from '../rest/rest-client.ts'
import { type DiscoveredResource, discover } from './discovery.ts'

/** The server knows no such kind, even when it was just asked. */
export class NoMatch extends Error {
  constructor(what: string) {
    super(`the server has no ${what}`)
    this.name = 'NoMatch'
  }
}

export class RestMapper {
  readonly #client: RestClient
  #known: { readonly at: number; readonly resources: Promise<readonly DiscoveredResource[]> } | undefined

  constructor(client: RestClient) {
    this.#client = client
  }

  /** All that the server has, groups and versions in its order; read once, until `invalidate`. */
  resources(): Promise<readonly DiscoveredResource[]> {
    if (!this.#known) {
      const resources = discover(this.#client).then(({ resources: found }) => found)
      const known = { at: performance.now(), resources }
      this.#known = known
      resources.catch(() => {
        if (this.#known === known) this.#known = undefined
      })
    }
    return this.#known.resources
  }

  /** What the server has is read again when it is next asked for. */
  invalidate(): void {
    this.#known = undefined
  }

  /** The resource of a kind; `apiVersion` may be a group alone: its preferred version, then. Rejects with NoMatch. */
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
   * What a word means: `deploy`, `deployment`, `deployments.apps`, `deployments.v1.apps`, `Deployment`. Rejects with
   * NoMatch.
   */
  forName(text: string): Promise<DiscoveredResource> {
    const [word = '', ...rest] = text.split('.')
    const place = rest.join('.')
    const isIn = ({ group, version, preferred }: DiscoveredResource): boolean => {
      if (place === '') return preferred
      // As kubectl, which takes the beginning of a group for it.
      return `${version}.${group}` === place || (preferred && group.startsWith(place))
    }
    return this.#find(`resource ${JSON.stringify(text)}`, (resources) => {
      const lower = word.toLowerCase()
      const there = resources.filter(isIn)
      const named = (is: (one: DiscoveredResource) => boolean): DiscoveredResource | undefined => there.find(is)
      return (
        named(({ plural }) => plural === lower) ??
        named(({ singular, kind }) => singular === lower || kind.toLowerCase() === lower) ??
        named(({ shortNames }) => shortNames.includes(lower))
      )
    })
  }

  /** What is missing may have come since it was read. */
  async #find(
    what: string,
    find: (resources: readonly DiscoveredResource[]) => DiscoveredResource | undefined,
  ): Promise<DiscoveredResource> {
    const asked = performance.now()
    const found = find(await this.resources())
    if (found) return found
    if (this.#known && this.#known.at < asked) this.invalidate()
    const again = find(await this.resources())
    if (!again) throw new NoMatch(what)
    return again
  }
}
