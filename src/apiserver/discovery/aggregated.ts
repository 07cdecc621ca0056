/** Aggregated discovery: everything under `/api` or `/apis` in one document (KEP-3352). */
import type { ServedGroup, ServedVersion } from '../../api/registry.ts'
import { allVerbs, type ResourceDefinition } from '../../api/resource.ts'
import { discoveredVersion } from '../aggregator/index.ts'
import { subresourcesOf } from './subresources.ts'

/** The list of groups, each with its versions and their resources. */
export const groupDiscoveryList = (groups: readonly ServedGroup[]) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: groups.map(({ group, versions }) => ({
    metadata: group ? { name: group } : {},
    versions: versions.map(versionItem),
  })),
})

const versionItem = (served: ServedVersion) =>
  discoveredVersion(served) ?? {
    version: served.version,
    resources: served.resources.map(resourceItem),
    freshness: 'Current',
  }

function resourceItem(resource: ResourceDefinition) {
  const {
    group,
    version,
    kind,
    plural,
    singular,
    scope,
    verbs = allVerbs,
    discoveryVerbs = verbs,
    shortNames,
    categories,
  } = resource
  const subresources = subresourcesOf(resource)
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    singularResource: singular ?? kind.toLowerCase(),
    verbs: discoveryVerbs,
    ...(shortNames?.length && { shortNames }),
    ...(categories?.length && { categories }),
    ...(subresources.length && {
      subresources: subresources.map(({ name, responseKind, verbs: subVerbs }) => ({
        subresource: name,
        responseKind,
        verbs: subVerbs,
      })),
    }),
  }
}
