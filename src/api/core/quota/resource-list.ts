/** Lists of resources (`cpu: 500m`) of pods, nodes, volumes and quotas. */
import { milliQuantity } from '../../../machinery/values/quantity.ts'

export type ResourceList = Record<string, string>

/** Converts all quantities to canonical form and rounds them up to thousandths, in place. */
export function resourceListDefaults(list: ResourceList | undefined): void {
  if (!list) return
  for (const name in list) list[name] = milliQuantity(list[name] as string)
}

const quotaNames = new Set([
  'configmaps',
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
  'requests.storage',
  'resourcequotas',
  'secrets',
  'services',
  'services.loadbalancers',
  'services.nodeports',
])
const integerNames = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])
const containerNames = new Set(['cpu', 'memory', 'ephemeral-storage'])

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-')

/** Returns true for names without a domain, or with one of kubernetes.io. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')

/** Returns true for names with another domain, such as `example.com/gpu`: integers, never overcommitted. */
export const isExtendedResource = (name: string): boolean => !isNativeResource(name) && !name.startsWith('requests.')

/** Prefix of the implicit extended resource of each device class (KEP-5004). */
export const deviceClassPrefix = 'deviceclass.resource.kubernetes.io/'

export const isIntegerResource = (name: string): boolean => integerNames.has(name) || isExtendedResource(name)
export const isContainerResource = (name: string): boolean => containerNames.has(name) || isHugePages(name)
export const isQuotaResource = (name: string): boolean =>
  containerNames.has(name) || quotaNames.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')
export const isStandardResource = (name: string): boolean => name === 'storage' || isQuotaResource(name)

/** Returns true if the sum of limits may exceed a node's capacity. */
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name)
