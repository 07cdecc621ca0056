/**
 * The built-in resources, and those of them that are served, by group, version and plural.
 * Custom resources are not here: `apiserver/crd/` adds them while the server runs.
 */
import { resources as admissionregistration } from './admissionregistration/index.ts'
import { resources as apiextensions } from './apiextensions/index.ts'
import { resources as apiregistration } from './apiregistration/index.ts'
import { resources as apps } from './apps/index.ts'
import { resources as authentication } from './authentication/index.ts'
import { resources as authorization } from './authorization/index.ts'
import { resources as autoscaling } from './autoscaling/index.ts'
import { resources as batch } from './batch/index.ts'
import { resources as certificates } from './certificates/index.ts'
import { resources as coordination } from './coordination/index.ts'
import { resources as core } from './core/index.ts'
import { resources as discovery } from './discovery/index.ts'
import { resources as dra } from './dra/index.ts'
import { resources as events } from './events/index.ts'
import { resources as flowcontrol } from './flowcontrol/index.ts'
import { resources as internalApiserver } from './internal-apiserver/index.ts'
import { resources as networking } from './networking/index.ts'
import { resources as node } from './node/index.ts'
import { resources as policy } from './policy/index.ts'
import { resources as rbac } from './rbac/index.ts'
import { type ResourceDefinition, resourceKey } from './resource.ts'
import { enabledResources, parseRuntimeConfig } from './runtime-config.ts'
import { resources as scheduling } from './scheduling/index.ts'
import { resources as storage } from './storage/index.ts'
import { resources as storagemigration } from './storagemigration/index.ts'

/**
 * All built-in resources, enabled or not. Groups have the order of `/apis`; the first version of a group is the
 * preferred one.
 */
export const allResources: readonly ResourceDefinition[] = [
  ...core,
  ...apiregistration,
  ...apps,
  ...events,
  ...authentication,
  ...authorization,
  ...autoscaling,
  ...batch,
  ...certificates,
  ...networking,
  ...policy,
  ...rbac,
  ...storage,
  ...admissionregistration,
  ...apiextensions,
  ...scheduling,
  ...coordination,
  ...node,
  ...discovery,
  ...dra,
  ...flowcontrol,
  ...internalApiserver,
  ...storagemigration,
]

/** The resources of one group version, sorted by plural. */
export interface ServedVersion {
  readonly group: string
  readonly version: string
  readonly resources: readonly ResourceDefinition[]
}

/** A group with its served versions, the preferred one first. */
export interface ServedGroup {
  readonly group: string
  readonly versions: readonly ServedVersion[]
}

export interface ResourceRegistry {
  /** All registered resources, enabled or not. */
  readonly all: readonly ResourceDefinition[]
  /** The served resources. */
  readonly resources: readonly ResourceDefinition[]
  /** Groups in the order of `/apis`; the core group, named '', comes first. */
  readonly groups: readonly ServedGroup[]
  /** Warnings to print when the server starts, one line each. */
  readonly warnings: readonly string[]
  /** Returns the resource if it is served. */
  readonly find: (group: string, version: string, plural: string) => ResourceDefinition | undefined
  readonly group: (group: string) => ServedGroup | undefined
  readonly version: (group: string, version: string) => ServedVersion | undefined
  /**
   * Returns the resource that stores the objects of this one: itself, or that of `storedAs`, which need not be served.
   */
  readonly storageOf: (resource: ResourceDefinition) => ResourceDefinition
}

export interface RegistryOptions {
  /** The value of `--runtime-config`, or its comma-separated parts. */
  readonly runtimeConfig?: string | readonly string[]
  /** Replaces the built-in resources in tests. */
  readonly all?: readonly ResourceDefinition[]
}

/** Returns the registry for a runtime configuration. Throws an Error with a message for the user if it is invalid. */
export function resourceRegistry({ runtimeConfig = [], all = allResources }: RegistryOptions = {}): ResourceRegistry {
  const config = typeof runtimeConfig === 'string' ? runtimeConfig : runtimeConfig.join(',')
  const { enabled: resources, warnings } = enabledResources(all, parseRuntimeConfig(config, all))
  const groups = groupsOf(resources)
  const byPath = new Map(
    resources.map((resource) => [pathKey(resource.group, resource.version, resource.plural), resource]),
  )
  const byGroup = new Map(groups.map((group) => [group.group, group]))
  const byKey = new Map(all.map((resource) => [resourceKey(resource), resource]))
  return {
    all,
    resources,
    groups,
    warnings,
    find: (group, version, plural) => byPath.get(pathKey(group, version, plural)),
    group: (group) => byGroup.get(group),
    version: (group, version) => byGroup.get(group)?.versions.find((served) => served.version === version),
    storageOf: (resource) => {
      const storage = resource.storedAs ? byKey.get(resource.storedAs.resource) : resource
      if (!storage)
        throw new Error(`${resourceKey(resource)} is stored as ${resource.storedAs?.resource}, which does not exist`)
      return storage
    },
  }
}

const pathKey = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`

const byPlural = (a: ResourceDefinition, b: ResourceDefinition): number => (a.plural < b.plural ? -1 : 1)

/** Returns resources by group and version: groups in the order of first occurrence, versions in that of preference. */
export function groupsOf(resources: readonly ResourceDefinition[]): ServedGroup[] {
  const groups = new Map<string, Map<string, ResourceDefinition[]>>()
  for (const resource of resources) {
    const versions = groups.get(resource.group) ?? new Map<string, ResourceDefinition[]>()
    groups.set(resource.group, versions)
    const served = versions.get(resource.version)
    if (served) served.push(resource)
    else versions.set(resource.version, [resource])
  }
  return [...groups].map(([group, versions]) => ({
    group,
    versions: [...versions]
      .map(([version, served]) => ({ group, version, resources: served.sort(byPlural) }))
      .sort((a, b) => compareVersions(a.version, b.version)),
  }))
}

/** Sorts GA before beta before alpha, and newer before older: `v2`, `v1`, `v1beta2`, `v1alpha1`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionParts(a), versionParts(b)]
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : 1
  return right.level - left.level || right.major - left.major || right.minor - left.minor
}

function versionParts(version: string): { major: number; level: number; minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (!match) return undefined
  const [, major, stage, minor] = match
  return { major: Number(major), level: stage === undefined ? 2 : stage === 'beta' ? 1 : 0, minor: Number(minor ?? 0) }
}
