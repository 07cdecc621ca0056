/** Groups of this server and of others in one list, in the order of their priorities. */
import { compareVersions, type ServedGroup, type ServedVersion } from '../../../api/registry.ts'
import { apiServiceName } from '../api-service.ts'
import { localPriority } from '../local/priorities.ts'
import type { DiscoveredVersion } from './remote-discovery.ts'

/** A group version of another server. This one knows none of its resources. */
export interface RemoteVersion extends ServedVersion {
  readonly discovered: DiscoveredVersion
  readonly groupPriority: number
  readonly versionPriority: number
}

/** How another server's version is shown; undefined for versions of this one. */
export const discoveredVersion = (version: ServedVersion): DiscoveredVersion | undefined =>
  (version as Partial<RemoteVersion>).discovered

/** A group is as important as its most important version. What another server serves is not shown as this one's. */
export function mergedGroups(groups: readonly ServedGroup[], remote: readonly RemoteVersion[]): readonly ServedGroup[] {
  if (remote.length === 0) return groups
  const versions = new Map<string, ServedVersion[]>(groups.map((one) => [one.group, [...one.versions]]))
  for (const version of remote) {
    const others = (versions.get(version.group) ?? []).filter((one) => one.version !== version.version)
    versions.set(version.group, [...others, version])
  }
  return [...versions].map(([group, all]) => ({ group, versions: all.sort(byPriority) })).sort(byGroupPriority)
}

const groupPriority = (version: ServedVersion): number =>
  (version as Partial<RemoteVersion>).groupPriority ?? localPriority(version).group
const versionPriority = (version: ServedVersion): number =>
  (version as Partial<RemoteVersion>).versionPriority ?? localPriority(version).version

const byPriority = (a: ServedVersion, b: ServedVersion): number =>
  versionPriority(b) - versionPriority(a) || compareVersions(a.version, b.version)

const byGroupPriority = (a: ServedGroup, b: ServedGroup): number =>
  Math.max(...b.versions.map(groupPriority)) - Math.max(...a.versions.map(groupPriority)) ||
  (firstName(a) < firstName(b) ? -1 : 1)

/** Groups that are equally important stand in the order of their APIServices' names. */
const firstName = ({ versions }: ServedGroup): string => versions.map(apiServiceName).sort()[0] ?? ''
