/** Merges groups of this server and of others, sorted by priority. */
import { compareVersions, type ServedGroup, type ServedVersion } from '../../../api/registry.ts'
import { apiServiceName } from '../api-service.ts'
import { localPriority } from '../local/priorities.ts'
import type { DiscoveredVersion } from './remote-discovery.ts'

/** A group version of another server; its resources are unknown here. */
export interface RemoteVersion extends ServedVersion {
  readonly discovered: DiscoveredVersion
  readonly groupPriority: number
  readonly versionPriority: number
}

/** The discovery document of another server's version; undefined for local versions. */
export const discoveredVersion = (version: ServedVersion): DiscoveredVersion | undefined =>
  (version as Partial<RemoteVersion>).discovered

/** A group has the highest priority of its versions. A remote version replaces the local one. */
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

/** Groups of equal priority are sorted by their first APIService name. */
const firstName = ({ versions }: ServedGroup): string => versions.map(apiServiceName).sort()[0] ?? ''
