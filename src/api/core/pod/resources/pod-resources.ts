/**
 * The total requests and limits of a pod, from its containers, sidecars and init containers, or its pod-level resources
 * (KEP-753, KEP-2837).
 */
import { addQuantities, compareQuantities, signOf, subtractQuantities } from '../../../../machinery/values/quantity.ts'
import { isHugePages, type ResourceList } from '../../quota/resource-list.ts'
import { type Container, isSidecar, type Pod, type PodStatus } from '../model.ts'

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]

export interface PodResourceOptions {
  /** True to add `spec.overhead`. */
  readonly overhead?: boolean
  /** True to count the resources in the status too, which may be larger during a resize. */
  readonly status?: boolean
  /** Requests of containers that have none for a resource. */
  readonly missing?: ResourceList
}

/** Returns the requests of a pod, in a new list. */
export function podRequests(pod: Pod, options: PodResourceOptions = {}): ResourceList {
  const infeasible = isInfeasible(pod)
  const requests = sumContainers(pod, options, ({ resources }, status) => {
    const specRequests = (resources?.requests ?? {}) as ResourceList
    const counted = status
      ? maximum(infeasible ? {} : specRequests, status.resources?.requests, status.allocatedResources)
      : specRequests
    return options.missing ? { ...options.missing, ...counted } : counted
  })
  for (const [name, amount] of Object.entries(podLevelRequests(pod, infeasible, options)))
    if (isPodLevelResource(name)) requests[name] = amount
  if (options.overhead) addTo(requests, pod.spec?.overhead)
  return requests
}

/** Returns true if a pending resize is infeasible: then only the resources in the status count. */
const isInfeasible = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') ?? false

/** Returns the pod-level requests, if any; during a resize, at least those in the status (KEP-5419). */
function podLevelRequests({ spec, status }: Pod, infeasible: boolean, options: PodResourceOptions): ResourceList {
  const specRequests = spec?.resources?.requests
  if (!specRequests || !Object.keys(specRequests).some(isPodLevelResource)) return {}
  if (!options.status || !(status?.resources ?? status?.allocatedResources)) return specRequests
  const has = [status.resources?.requests, status.allocatedResources].map((list) => subtract(list, spec.overhead))
  return maximum(infeasible ? {} : specRequests, ...has)
}

/** Returns the limits of a pod, in a new list. */
export function podLimits(pod: Pod, options: PodResourceOptions = {}): ResourceList {
  const infeasible = isInfeasible(pod)
  const limits = sumContainers(pod, options, ({ resources }, status) => {
    const specLimits = (resources?.limits ?? {}) as ResourceList
    return status?.resources ? maximum(infeasible ? {} : specLimits, status.resources.limits) : specLimits
  })
  for (const [name, amount] of Object.entries(podLevelLimits(pod, infeasible, options)))
    if (isPodLevelResource(name)) limits[name] = amount
  if (options.overhead) {
    for (const [name, amount] of Object.entries(pod.spec?.overhead ?? {})) {
      const limit = limits[name]
      // Overhead does not introduce a limit.
      if (limit !== undefined && signOf(limit) !== 0) limits[name] = addQuantities(limit, amount)
    }
  }
  return limits
}

/** Returns the pod-level limits; during a resize, at least those in the status. */
function podLevelLimits(pod: Pod, infeasible: boolean, options: PodResourceOptions): ResourceList {
  const { spec, status } = pod
  const specLimits = spec?.resources?.limits ?? {}
  if (!options.status || !status?.resources || !hasPodResources(pod)) return specLimits
  return maximum(infeasible ? {} : specLimits, subtract(status.resources.limits, spec?.overhead))
}

/** Returns true if the pod has pod-level requests or limits. */
export const hasPodResources = ({ spec }: Pod): boolean =>
  [spec?.resources?.requests, spec?.resources?.limits].some(
    (list) => list !== undefined && Object.keys(list).some(isPodLevelResource),
  )

/** Returns true for resources that are supported at pod level. */
export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)

/** Sums up containers. Init containers run one after the other, each with the sidecars that started before it. */
function sumContainers(
  { spec, status }: Pod,
  options: PodResourceOptions,
  listOf: (container: Container, status: ContainerStatus | undefined) => ResourceList,
): ResourceList {
  const statusOf = (
    statuses: readonly ContainerStatus[] | undefined,
    { name }: Container,
  ): ContainerStatus | undefined => (options.status ? statuses?.find((one) => one.name === name) : undefined)
  const running: ResourceList = {}
  for (const container of spec?.containers ?? [])
    addTo(running, listOf(container, statusOf(status?.containerStatuses, container)))
  const sidecars: ResourceList = {}
  let starting: ResourceList = {}
  for (const container of spec?.initContainers ?? []) {
    const list = listOf(container, statusOf(status?.initContainerStatuses, container))
    if (isSidecar(container)) {
      addTo(running, list)
      addTo(sidecars, list)
      starting = maximum(starting, sidecars)
    } else {
      const now = { ...sidecars }
      addTo(now, list)
      starting = maximum(starting, now)
    }
  }
  return maximum(running, starting)
}

function addTo(sum: ResourceList, list: Readonly<Record<string, string>> | undefined): void {
  for (const name in list) {
    const before = sum[name]
    sum[name] = before === undefined ? list[name]! : addQuantities(before, list[name]!)
  }
}

function subtract(
  list: Readonly<Record<string, string>> = {},
  less: Readonly<Record<string, string>> = {},
): ResourceList {
  const rest = Object.entries(list).map(([name, amount]) => [
    name,
    less[name] === undefined ? amount : subtractQuantities(amount, less[name]),
  ])
  return Object.fromEntries(rest)
}

/** Returns the largest amount of each resource. */
function maximum(...lists: readonly (Readonly<Record<string, string>> | undefined)[]): ResourceList {
  const largest: ResourceList = {}
  for (const list of lists) {
    for (const name in list) {
      const before = largest[name]
      if (before === undefined || compareQuantities(list[name]!, before) > 0) largest[name] = list[name]!
    }
  }
  return largest
}
