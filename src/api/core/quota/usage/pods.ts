/** Counts pods: what they request and are limited to while they run, and how many there are. */
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
import { type Scope, scopeHolds, type Usage } from './usage.ts'

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

/** Whoever limits these wants every container to say how much it takes. */
const mustBeSaid = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

const isCounted = (name: string): boolean =>
  counted.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-') || isExtendedRequest(name)

/** `requests.example.com/gpu`, `requests.deviceclass.resource.kubernetes.io/gpu`. */
export const isExtendedRequest = (name: string): boolean =>
  name.startsWith('requests.') && (!isNativeResource(name) || name.startsWith(`requests.${deviceClassPrefix}`))

export const podUsage = (now: () => number = Date.now): Usage => ({
  matching: (names) => names.filter(isCounted),
  inScope,
  usage(object) {
    const pod = object as Pod
    if (hasEnded(pod, now())) return { 'count/pods': '1' }
    const options = { overhead: true, status: true }
    return { 'count/pods': '1', ...computeUsage(podRequests(pod, options), podLimits(pod, options)) }
  },
  missing(names, object) {
    const pod = object as Pod
    if (hasPodResources(pod)) return undefined
    const unsaid = names
      .filter((name) => mustBeSaid.has(name))
      .sort()
      .flatMap((name) => {
        const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].filter(
          (container) => !says(container, name),
        )
        const who = [...new Set(containers.map((container) => container.name))].sort()
        return who.length > 0 ? [`${name} for: ${who.join(',')}`] : []
      })
    return unsaid.length > 0 ? `must specify ${unsaid.join('; ')}` : undefined
  },
  fleeting: ({ metadata }) => metadata.deletionTimestamp !== undefined,
})

const says = ({ resources }: Container, name: string): boolean =>
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

/** What has ended uses nothing any more; nor does what should be gone since its grace is over. */
function hasEnded({ metadata, status }: Pod, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return now > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

/** Whether a pod ends by itself. */
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
      return scopeHolds(scope, pod.spec?.priorityClassName ? [pod.spec.priorityClassName] : [])
    case 'CrossNamespacePodAffinity':
      return looksAcrossNamespaces(pod)
    default:
      return false
  }
}

function looksAcrossNamespaces({ spec }: Pod): boolean {
  const across = ({ namespaces, namespaceSelector }: Wire<V1PodAffinityTerm>): boolean =>
    (namespaces?.length ?? 0) > 0 || namespaceSelector !== undefined
  return [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity].some(
    (affinity) =>
      affinity?.requiredDuringSchedulingIgnoredDuringExecution?.some(across) ||
      affinity?.preferredDuringSchedulingIgnoredDuringExecution?.some(({ podAffinityTerm }) => across(podAffinityTerm)),
  )
}
