/** Legacy discovery documents: `/api`, `/apis`, a group, a group version. */
import { createHash } from 'node:crypto'
import type { ServedGroup, ServedVersion } from '../../api/registry.ts'
import { allVerbs, type ResourceDefinition } from '../../api/resource.ts'
import { subresourcesOf } from './subresources.ts'

export const groupVersionText = ({ group, version }: { readonly group: string; readonly version: string }): string =>
  group ? `${group}/${version}` : version

const versionItem = (served: ServedVersion) => ({ groupVersion: groupVersionText(served), version: served.version })

/** `/api`: the versions of the core group. `address` is the host and port that clients reach the server at. */
export const apiVersions = (core: ServedGroup | undefined, address: string) => ({
  kind: 'APIVersions',
  versions: (core?.versions ?? []).map(({ version }) => version),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
})

const groupItem = ({ group, versions }: ServedGroup) => ({
  name: group,
  versions: versions.map(versionItem),
  preferredVersion: versions[0] && versionItem(versions[0]),
})

/** `/apis`: all groups that have a name. */
export const apiGroupList = (groups: readonly ServedGroup[]) => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.filter(({ group }) => group !== '').map(groupItem),
})

/** `/apis/GROUP`. */
export const apiGroup = (group: ServedGroup) => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupItem(group) })

/** `/apis/GROUP/VERSION` and `/api/v1`; only the latter has no apiVersion. */
export const apiResourceList = (
  served: ServedVersion,
  storageOf: (resource: ResourceDefinition) => ResourceDefinition,
) => ({
  kind: 'APIResourceList',
  ...(served.group && { apiVersion: 'v1' }),
  groupVersion: groupVersionText(served),
  resources: served.resources.flatMap((resource) => [resourceItem(resource, storageOf), ...subresourceItems(resource)]),
})

function resourceItem(resource: ResourceDefinition, storageOf: (resource: ResourceDefinition) => ResourceDefinition) {
  const {
    plural,
    singular,
    kind,
    scope,
    verbs = allVerbs,
    discoveryVerbs = verbs,
    shortNames,
    categories,
    virtual,
  } = resource
  return {
    name: plural,
    singularName: singular ?? kind.toLowerCase(),
    namespaced: scope === 'Namespaced',
    kind,
    verbs: discoveryVerbs,
    ...(shortNames?.length && { shortNames }),
    ...(categories?.length && { categories }),
    ...(!virtual && { storageVersionHash: storageVersionHash(storageOf(resource)) }),
  }
}

const subresourceItems = (resource: ResourceDefinition) =>
  subresourcesOf(resource).map(({ name, responseKind, verbs }) => ({
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.scope === 'Namespaced',
    ...((responseKind.group !== resource.group || responseKind.version !== resource.version) && {
      group: responseKind.group,
      version: responseKind.version,
    }),
    kind: responseKind.kind,
    verbs,
  }))

/** A hash by which clients detect a change of the storage version; computed as upstream does. */
export const storageVersionHash = ({
  group,
  version,
  kind,
  storageHashVersion = version,
}: ResourceDefinition): string =>
  createHash('sha256').update(`${group}/${storageHashVersion}/${kind}`).digest().subarray(0, 8).toString('base64')
