/** Counts pods, and their requests and limits while they run. */
import type { V1PodAffinityTerm } from '@kubernetes/client-node'
import type { KubeObject, Wire } from '../../../../machinery/object.ts'
import type { Container, Pod } from '../../pod/model.ts'
import { hasPodResources, podLimits, podRequests } from '../../pod/resources/pod-resources.ts'
import { qosClass } from '../../pod/resources/qos.ts'
import {
  deviceClassPrefix,
  isExtendedResource,
  isHugePages,
  isNativeResource,
  type ResourceList,
} from '../resource-list.ts'
import { matchesScope, type Scope, type Usage } from './usage.ts'

const counted = new Set([
  'count/pods',
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
])

/** Quotas of these resources require that every container specifies them. */
const requiredInContainers = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
])

const isCounted = (name: string): boolean =>
  counted.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-') || isExtendedRequest(name)

/** Returns true for `requests.example.com/gpu` and `requests.deviceclass.resource.kubernetes.io/gpu`. */
export const isExtendedRequest = (name: string): boolean =>
  name.startsWith('requests.') && (!isNativeResource(name) || name.startsWith(`requests.${deviceClassPrefix}`))

export const podUsage = (now: () => number = Date.now): Usage => ({
  matching: (names) => names.filter(isCounted),
  inScope,
  usage(object) {
    const pod = object as Pod
    if (isFinished(pod, now())) return { 'count/pods': '1' }
    const options = { overhead: true, status: true }
    return { 'count/pods': '1', ...computeUsage(podRequests(pod, options), podLimits(pod, options)) }
  },
  missing(names, object) {
    const pod = object as Pod
    if (hasPodResources(pod)) return undefined
    const unspecified = names
      .filter((name) => requiredInContainers.has(name))
      .sort()
      .flatMap((name) => {
        const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].filter(
          (container) => !specifies(container, name),
        )
        const containerNames = [...new Set(containers.map((container) => container.name))].sort()
        return containerNames.length > 0 ? [`${name} for: ${containerNames.join(',')}`] : []
      })
    return unspecified.length > 0 ? `must specify ${unspecified.join('; ')}` : undefined
  },
  changesOverTime: ({ metadata }) => metadata.deletionTimestamp !== undefined,
})

const specifies = ({ resources }: Container, name: string): boolean =>
  Object.hasOwn(computeUsage(resources?.requests, resources?.limits), name)

function computeUsage(requests: ResourceList = {}, limits: ResourceList = {}): ResourceList {
  const usage: ResourceList = { pods: '1' }
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const request = requests[name]
    if (request !== undefined) usage[name] = usage[`requests.${name}`] = request
    const limit = limits[name]
    if (limit !== undefined) usage[`limits.${name}`] = limit
  }
  for (const [name, request] of Object.entries(requests)) {
    if (isHugePages(name)) usage[name] = request
    if (isHugePages(name) || isExtendedResource(name) || name.startsWith(deviceClassPrefix))
      usage[`requests.${name}`] = request
  }
  return usage
}

/** Returns true for finished pods, and for deleted pods whose grace period is over: they use no resources. */
function isFinished({ metadata, status }: Pod, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return now > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

/** Returns true if the pod has an activeDeadlineSeconds. */
export const isTerminating = ({ spec }: Pod): boolean => (spec?.activeDeadlineSeconds ?? -1) >= 0

const isBestEffort = ({ spec }: Pod): boolean => qosClass(spec ?? { containers: [] }) === 'BestEffort'

function inScope(scope: Scope, object: KubeObject): boolean {
  const pod = object as Pod
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating(pod)
    case 'NotTerminating':
      return !isTerminating(pod)
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass':
      return matchesScope(scope, pod.spec?.priorityClassName ? [pod.spec.priorityClassName] : [])
    case 'CrossNamespacePodAffinity':
      return hasCrossNamespaceAffinity(pod)
    default:
      return false
  }
}

function hasCrossNamespaceAffinity({ spec }: Pod): boolean {
  const across = ({ namespaces, namespaceSelector }: Wire<V1PodAffinityTerm>): boolean =>
    (namespaces?.length ?? 0) > 0 || namespaceSelector !== undefined
  return [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity].some(
    (affinity) =>
      affinity?.requiredDuringSchedulingIgnoredDuringExecution?.some(across) ||
      affinity?.preferredDuringSchedulingIgnoredDuringExecution?.some(({ podAffinityTerm }) => across(podAffinityTerm)),
  )
}
