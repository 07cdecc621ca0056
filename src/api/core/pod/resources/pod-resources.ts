/**
 * What a pod asks for altogether, and what it is limited to: its containers, sidecars and init containers, or the pod
 * as a whole (KEP-753, KEP-2837).
 */
import { addQuantities, compareQuantities, signOf, subtractQuantities } from '../../../../machinery/values/quantity.ts'
import { isHugePages, type ResourceList } from '../../quota/resource-list.ts'
import { type Container, isSidecar, type Pod, type PodStatus } from '../model.ts'

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]

export interface PodResourceOptions {
  /** Whether what the pod needs beside its containers counts (`spec.overhead`). */
  readonly overhead?: boolean
  /** Whether what containers still have counts while they are being resized. */
  readonly status?: boolean
  /** What a container counts for that asks for nothing of a resource. */
  readonly missing?: ResourceList
}

/** The requests of a pod. The list is the caller's. */
export function podRequests(pod: Pod, options: PodResourceOptions = {}): ResourceList {
  const infeasible = isInfeasible(pod)
  const requests = together(pod, options, ({ resources }, status) => {
    const asked = (resources?.requests ?? {}) as ResourceList
    const counted = status
      ? most(infeasible ? {} : asked, status.resources?.requests, status.allocatedResources)
      : asked
    return options.missing ? { ...options.missing, ...counted } : counted
  })
  for (const [name, amount] of Object.entries(wholeRequests(pod, infeasible, options)))
    if (isForPods(name)) requests[name] = amount
  if (options.overhead) addTo(requests, pod.spec?.overhead)
  return requests
}

/** Whether a resize has been asked for that can never be: then only what the containers have counts. */
const isInfeasible = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') ?? false

/**
 * What is asked for the pod as a whole, if anything is: while it is being resized as much as it still has, too
 * (KEP-5419).
 */
function wholeRequests({ spec, status }: Pod, infeasible: boolean, options: PodResourceOptions): ResourceList {
  const asked = spec?.resources?.requests
  if (!asked || !Object.keys(asked).some(isForPods)) return {}
  if (!options.status || !(status?.resources ?? status?.allocatedResources)) return asked
  const has = [status.resources?.requests, status.allocatedResources].map((list) => without(list, spec.overhead))
  return most(infeasible ? {} : asked, ...has)
}

/** The limits of a pod. The list is the caller's. */
export function podLimits(pod: Pod, options: PodResourceOptions = {}): ResourceList {
  const infeasible = isInfeasible(pod)
  const limits = together(pod, options, ({ resources }, status) => {
    const capped = (resources?.limits ?? {}) as ResourceList
    return status?.resources ? most(infeasible ? {} : capped, status.resources.limits) : capped
  })
  for (const [name, amount] of Object.entries(wholeLimits(pod, infeasible, options)))
    if (isForPods(name)) limits[name] = amount
  if (options.overhead) {
    for (const [name, amount] of Object.entries(pod.spec?.overhead ?? {})) {
      const limit = limits[name]
      // What has no limit has none with overhead either.
      if (limit !== undefined && signOf(limit) !== 0) limits[name] = addQuantities(limit, amount)
    }
  }
  return limits
}

/** What the pod as a whole is limited to: while it is being resized it may still have more. */
function wholeLimits(pod: Pod, infeasible: boolean, options: PodResourceOptions): ResourceList {
  const { spec, status } = pod
  const capped = spec?.resources?.limits ?? {}
  if (!options.status || !status?.resources || !hasPodResources(pod)) return capped
  return most(infeasible ? {} : capped, without(status.resources.limits, spec?.overhead))
}

/** Whether the pod as a whole asks for something or is limited. */
export const hasPodResources = ({ spec }: Pod): boolean =>
  [spec?.resources?.requests, spec?.resources?.limits].some(
    (list) => list !== undefined && Object.keys(list).some(isForPods),
  )

/** What may be given for a pod as a whole. */
export const isForPods = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)

/** Init containers run one after the other, each beside the sidecars that were started before it. */
function together(
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
      starting = most(starting, sidecars)
    } else {
      const now = { ...sidecars }
      addTo(now, list)
      starting = most(starting, now)
    }
  }
  return most(running, starting)
}

function addTo(sum: ResourceList, list: Readonly<Record<string, string>> | undefined): void {
  for (const name in list) {
    const before = sum[name]
    sum[name] = before === undefined ? list[name]! : addQuantities(before, list[name]!)
  }
}

function without(
  list: Readonly<Record<string, string>> = {},
  less: Readonly<Record<string, string>> = {},
): ResourceList {
  const rest = Object.entries(list).map(([name, amount]) => [
    name,
    less[name] === undefined ? amount : subtractQuantities(amount, less[name]),
  ])
  return Object.fromEntries(rest)
}

/** Of each resource the largest amount. */
function most(...lists: readonly (Readonly<Record<string, string>> | undefined)[]): ResourceList {
  const largest: ResourceList = {}
  for (const list of lists) {
    for (const name in list) {
      const before = largest[name]
      if (before === undefined || compareQuantities(list[name]!, before) > 0) largest[name] = list[name]!
    }
  }
  return largest
}
