/**
 * Reads the resources of a server by aggregated discovery (KEP-3352): one request for the core group, one for all other
 * groups. For older servers, one request for each group version.
 */

import type { Resource } from '../resource.ts'
import type { RestClient } from '../rest/rest-client.ts'
import { type LegacyRoot, readLegacyGroups } from './legacy.ts'

/** A resource as in the server's discovery. */
export interface DiscoveredResource extends Resource {
  readonly verbs: ReadonlySet<string>
  /** True for the server's preferred version among those that have the resource. */
  readonly preferred: boolean
  readonly singular: string
  readonly shortNames: readonly string[]
  /** For example `all`. */
  readonly categories: readonly string[]
  /** For example `status` and `scale`. */
  readonly subresources: readonly string[]
}

/** The resources that a server has. */
export interface Discovery {
  readonly resources: readonly DiscoveredResource[]
  /** Group versions of aggregated APIs that are unavailable: their resources are missing or stale. */
  readonly failed: readonly string[]
}

export interface GroupDiscovery {
  readonly metadata?: { readonly name?: string }
  readonly versions?: readonly VersionDiscovery[]
}

interface VersionDiscovery {
  readonly version: string
  readonly freshness?: string
  readonly resources?: readonly {
    readonly resource: string
    readonly responseKind?: { readonly group?: string; readonly version?: string; readonly kind: string }
    readonly scope: 'Namespaced' | 'Cluster'
    readonly singularResource?: string
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
    readonly verbs?: readonly string[]
    readonly subresources?: readonly { readonly subresource: string }[]
  }[]
}

type Root = { readonly kind: string; readonly items?: readonly GroupDiscovery[] } & LegacyRoot

const accept = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join()

/**
 * Reads the server's discovery. Rejects with a StatusError, or with ConnectionLost if the server is unreachable.
 * @example const { resources, failed } = await discover(client)
 */
export async function discover(client: RestClient): Promise<Discovery> {
  const roots = await Promise.all(['/api', '/apis'].map((path) => client.read<Root>(path, accept)))
  const groups = roots.map((root) =>
    root.kind === 'APIGroupDiscoveryList' ? (root.items ?? []) : readLegacyGroups(client, root),
  )
  return discoveryOf((await Promise.all(groups)).flat())
}

/** Converts discovery documents. The versions of a group are in order of preference. */
export function discoveryOf(groups: readonly GroupDiscovery[]): Discovery {
  const resources: DiscoveredResource[] = []
  const failed: string[] = []
  for (const { metadata, versions = [] } of groups) {
    const group = metadata?.name ?? ''
    const seen = new Set<string>()
    for (const { version, freshness, resources: ofVersion = [] } of versions) {
      if (freshness === 'Stale') failed.push(group ? `${group}/${version}` : version)
      for (const { resource: plural, responseKind, scope, singularResource, ...one } of ofVersion) {
        const { shortNames = [], categories = [], verbs = [], subresources = [] } = one
        const preferred = !seen.has(plural)
        seen.add(plural)
        const kind = responseKind?.kind ?? ''
        resources.push({
          group,
          version,
          plural,
          kind,
          namespaced: scope === 'Namespaced',
          verbs: new Set(verbs),
          preferred,
          singular: singularResource || kind.toLowerCase(),
          shortNames,
          categories,
          subresources: subresources.map(({ subresource }) => subresource),
        })
      }
    }
  }
  return { resources, failed }
}

/**
 * Returns true if a resource supports all of the verbs.
 * @example const watchable = resources.filter((resource) => supports(resource, 'list', 'watch'))
 */
export const supports = ({ verbs }: DiscoveredResource, ...wanted: readonly string[]): boolean =>
  wanted.every((verb) => verbs.has(verb))
