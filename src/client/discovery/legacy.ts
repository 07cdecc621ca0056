/** Discovery of servers before Kubernetes 1.26: reads each group version, and converts to the aggregated form. */

import type { RestClient } from '../rest/rest-client.ts'
import type { GroupDiscovery } from './discovery.ts'

/** The response of `/api` (versions) or `/apis` (groups). */
export interface LegacyRoot {
  readonly versions?: readonly string[]
  readonly groups?: readonly LegacyGroup[]
}

interface LegacyGroup {
  readonly name: string
  readonly versions: readonly { readonly version: string }[]
  readonly preferredVersion?: { readonly version: string }
}

interface LegacyResource {
  readonly name: string
  readonly singularName?: string
  readonly namespaced: boolean
  readonly kind: string
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

type VersionDiscovery = NonNullable<GroupDiscovery['versions']>[number]

/** A group version that cannot be read is marked stale. */
export function readLegacyGroups(client: RestClient, { versions = [], groups }: LegacyRoot): Promise<GroupDiscovery[]> {
  const all: readonly LegacyGroup[] = groups ?? [{ name: '', versions: versions.map((version) => ({ version })) }]
  return Promise.all(
    all.map(async ({ name, versions: served, preferredVersion }) => {
      const isPreferred = ({ version }: { readonly version: string }): boolean => version === preferredVersion?.version
      const inOrder = [...served.filter(isPreferred), ...served.filter((one) => !isPreferred(one))]
      return {
        metadata: { name },
        versions: await Promise.all(inOrder.map(({ version }) => readVersion(client, name, version))),
      }
    }),
  )
}

async function readVersion(client: RestClient, group: string, version: string): Promise<VersionDiscovery> {
  const path = group ? `/apis/${group}/${version}` : `/api/${version}`
  const list = await client.read<{ readonly resources: readonly LegacyResource[] }>(path).catch(() => undefined)
  if (!list) return { version, freshness: 'Stale' }
  const { resources } = list
  return {
    version,
    resources: resources
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, singularName, namespaced, kind, ...more }) => ({
        ...more,
        resource: name,
        responseKind: { kind },
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singularName,
        subresources: resources.flatMap((other) =>
          other.name.startsWith(`${name}/`) ? [{ subresource: other.name.slice(name.length + 1) }] : [],
        ),
      })),
  }
}
