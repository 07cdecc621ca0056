/** Chooses the resources of a cluster that a recording contains, each in the version that the cluster stores. */

import { type DiscoveredResource, discover, supports } from '../../client/discovery/discovery.ts'
import { apiServices, customResourceDefinitions } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'

export interface RecordedResources {
  readonly resources: readonly DiscoveredResource[]
  /** API groups that are not recorded, each with the reason. */
  readonly omitted: readonly string[]
}

/** Rejects as `discover` does. */
export async function recordedResources(client: RestClient): Promise<RecordedResources> {
  const [{ resources, failed }, remote, stored] = await Promise.all([
    discover(client),
    remoteGroupVersions(client),
    storedVersions(client),
  ])
  const listed = resources.filter((resource) => supports(resource, 'list', 'create') && !isAlias(resource))
  const chosen = listed.filter((resource) => {
    const version = stored.get(`${resource.plural}.${resource.group}`)
    const isServed = version !== undefined && listed.some((other) => isSame(other, resource, version))
    return isServed ? resource.version === version : resource.preferred
  })
  const gone = new Set([...remote, ...failed])
  return {
    resources: chosen.filter((resource) => !gone.has(groupVersionOf(resource))),
    omitted: [
      ...[...remote].map((name) => `${name}: another server answers for it`),
      ...failed.filter((name) => !remote.has(name)).map((name) => `${name}: it is unavailable`),
    ],
  }
}

const groupVersionOf = ({ group, version }: DiscoveredResource): string => (group ? `${group}/${version}` : version)

const isSame = (other: DiscoveredResource, { group, plural }: DiscoveredResource, version: string): boolean =>
  other.group === group && other.plural === plural && other.version === version

/** Events are the same objects in both groups. */
const isAlias = ({ group, plural }: DiscoveredResource): boolean => group === 'events.k8s.io' && plural === 'events'

/** The group versions of aggregated APIs, whose objects are not in this cluster's store. */
async function remoteGroupVersions(client: RestClient): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  await unlessForbidden(async () => {
    for await (const { spec } of client.items(apiServices))
      if (spec?.service) names.add(`${spec.group}/${spec.version}`)
  })
  return names
}

/** The stored versions of custom resources, by `plural.group`. */
async function storedVersions(client: RestClient): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>()
  await unlessForbidden(async () => {
    for await (const { spec } of client.items(customResourceDefinitions)) {
      const stored = spec?.versions?.find(({ storage }) => storage)
      if (spec && stored) versions.set(`${spec.names.plural}.${spec.group}`, stored.name)
    }
  })
  return versions
}

/** Without the right to read them, discovery alone has to do. */
async function unlessForbidden(read: () => Promise<void>): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!(error instanceof StatusError) || (error.code !== 403 && error.code !== 404)) throw error
  }
}
