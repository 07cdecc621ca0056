/** Lists of resources (`cpu: 500m`), which pods, nodes, volumes and quotas hold. */
import { milliQuantity } from '../../../machinery/values/quantity.ts'

export type ResourceList = Record<string, string>

/** Writes every quantity of the list canonically and without anything finer than thousandths, in place. */
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

/** Names without a domain, or with one of Kubernetes' own. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')

/** Names with a foreign domain, such as `example.com/gpu`: always whole numbers, never overcommitted. */
export const isExtendedResource = (name: string): boolean => !isNativeResource(name) && !name.startsWith('requests.')

/** Every class of devices can be asked for as if it were an extended resource: by this and its name (KEP-5004). */
export const deviceClassPrefix = 'deviceclass.resource.kubernetes.io/'

export const isIntegerResource = (name: string): boolean => integerNames.has(name) || isExtendedResource(name)
export const isContainerResource = (name: string): boolean => containerNames.has(name) || isHugePages(name)
export const isQuotaResource = (name: string): boolean =>
  containerNames.has(name) || quotaNames.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')
export const isStandardResource = (name: string): boolean => name === 'storage' || isQuotaResource(name)

/** Whether more may be promised to containers than there is. */
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name)
