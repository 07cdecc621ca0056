/**
 * Priorities of local group versions, which order groups and versions in discovery. Upstream's numbers.
 */
import type { GroupVersion } from '../api-service.ts'

export interface Priority {
  readonly group: number
  readonly version: number
}

const groups: Readonly<Record<string, number>> = {
  '': 18000,
  'apiregistration.k8s.io': 18000,
  apps: 17800,
  'events.k8s.io': 17750,
  'authentication.k8s.io': 17700,
  'authorization.k8s.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.k8s.io': 17300,
  'networking.k8s.io': 17200,
  policy: 17100,
  'rbac.authorization.k8s.io': 17000,
  'storage.k8s.io': 16800,
  'admissionregistration.k8s.io': 16700,
  'apiextensions.k8s.io': 16700,
  'scheduling.k8s.io': 16600,
  'coordination.k8s.io': 16500,
  'node.k8s.io': 16300,
  'discovery.k8s.io': 16200,
  'resource.k8s.io': 16200,
  'flowcontrol.apiserver.k8s.io': 16100,
  'internal.apiserver.k8s.io': 16000,
  'storagemigration.k8s.io': 15800,
}

const versions: Readonly<Record<string, number>> = {
  'v1.': 1,
  'v2.autoscaling': 30,
  'v1.flowcontrol.apiserver.k8s.io': 21,
  'v1.resource.k8s.io': 21,
  'v1beta1.admissionregistration.k8s.io': 12,
  'v1beta1.coordination.k8s.io': 13,
  'v1alpha2.coordination.k8s.io': 12,
}

/** The priority of custom resources: below all built-in ones. */
export const customPriority: Priority = { group: 1000, version: 100 }

/** The priority of a built-in group version. */
export const builtInPriority = ({ group, version }: GroupVersion): Priority => ({
  group: groups[group] ?? 15700,
  version: versions[`${version}.${group}`] ?? (/^v\d+$/.test(version) ? 15 : 9),
})

export const isBuiltIn = (group: string): boolean => Object.hasOwn(groups, group)

/** The priority of any local group version. */
export const localPriority = (groupVersion: GroupVersion): Priority =>
  isBuiltIn(groupVersion.group) ? builtInPriority(groupVersion) : customPriority
