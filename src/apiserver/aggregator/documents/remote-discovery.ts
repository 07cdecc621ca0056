/**
 * Fetches the discovery of an aggregated API's server: aggregated discovery or, if it has none, legacy documents.
 */
import { type Backend, fetchDocument } from '../../outgoing/index.ts'
import type { GroupVersion } from '../api-service.ts'
import { aggregatorUser, identityHeaders } from '../remote/identity-headers.ts'

/** A version in `APIGroupDiscoveryList`; its resources are passed on unchanged. */
export interface DiscoveredVersion {
  readonly version: string
  readonly resources?: readonly object[]
  readonly freshness: 'Current' | 'Stale'
}

/** The last fetched discovery, with its ETag. */
export interface FetchedDiscovery {
  readonly found: DiscoveredVersion
  readonly etag?: string
}

const fetchTimeoutMs = 5_000
const aggregatedForm = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
const accepted = `${aggregatedForm('v2')},${aggregatedForm('v2beta1')},application/json`

interface GroupDiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly { readonly version: string; readonly resources?: readonly object[] }[]
  }[]
}

interface APIResourceList {
  readonly resources?: readonly APIResource[]
}

interface APIResource {
  readonly name: string
  readonly singularName?: string
  readonly namespaced?: boolean
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** Rejects with an Error if the server cannot be reached. */
export async function fetchDiscovery(
  groupVersion: GroupVersion,
  backend: Backend,
  known: FetchedDiscovery | undefined,
): Promise<FetchedDiscovery> {
  const { group, version } = groupVersion
  const headers = {
    ...identityHeaders(aggregatorUser),
    accept: accepted,
    ...(known?.etag && { 'if-none-match': known.etag }),
  }
  const answer = await fetchDocument(backend, '/apis', headers, fetchTimeoutMs)
  if (answer.status === 304 && known) return { ...known, found: { ...known.found, freshness: 'Current' } }
  if (answer.status === 200 && answer.headers['content-type']?.includes('as=APIGroupDiscoveryList')) {
    const { items = [] } = JSON.parse(answer.body.toString()) as GroupDiscoveryList
    const found = items
      .find(({ metadata }) => metadata?.name === group)
      ?.versions?.find((one) => one.version === version)
    return { found: { version, resources: found?.resources ?? [], freshness: 'Current' }, etag: answer.headers.etag }
  }
  const path = `/apis/${group}/${version}`
  const legacy = await fetchDocument(
    backend,
    path,
    { ...identityHeaders(aggregatorUser), accept: 'application/json' },
    fetchTimeoutMs,
  )
  if (legacy.status !== 200) throw new Error(`${path} answered ${legacy.status}`)
  const { resources = [] } = JSON.parse(legacy.body.toString()) as APIResourceList
  return { found: { version, resources: toAggregated(resources, groupVersion), freshness: 'Current' } }
}

/** The resources of an `APIResourceList`, each with its subresources. */
export function toAggregated(resources: readonly APIResource[], own: GroupVersion): object[] {
  const subresources = Map.groupBy(
    resources.filter(({ name }) => name.includes('/')),
    ({ name }) => name.slice(0, name.indexOf('/')),
  )
  const shared = ({ group, version, kind, verbs = [] }: APIResource) => ({
    responseKind: { group: group || own.group, version: version || own.version, kind },
    verbs,
  })
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => {
      const { name, singularName, namespaced, shortNames, categories } = resource
      const below = subresources.get(name)
      const { responseKind, verbs } = shared(resource)
      return {
        resource: name,
        responseKind,
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singularName || resource.kind.toLowerCase(),
        verbs,
        ...(shortNames?.length && { shortNames }),
        ...(categories?.length && { categories }),
        ...(below && {
          subresources: below.map((one) => ({ subresource: one.name.slice(name.length + 1), ...shared(one) })),
        }),
      }
    })
}
