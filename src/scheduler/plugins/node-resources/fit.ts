/** NodeResourcesFit: allows nodes with enough free resources, and scores them with the configured strategy. */
import type { DeviceClass, Node, Pod } from '../../../client/kinds.ts'
import {
  amountOf,
  NodeInfo,
  on,
  type Plugin,
  PodInfo,
  pluginFactory,
  resourcesOf,
  type Status,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts'
import { classesByResource, resourcesOfClass } from '../dynamic-resources/extended/classes.ts'
import { type FitArgs, fitArgs, type ScoringStrategy } from './fit-args.ts'
import { type RequestedResource, requestedOf } from './scored-resources.ts'
import { type Demand, demandOf, fits, type Shortfall, shortfalls } from './shortfall.ts'
import { leastAllocated, mostAllocated, requestedToCapacityRatio, type Strategy } from './strategies.ts'

export const nodeResourcesFit = pluginFactory<FitArgs>({
  name: 'NodeResourcesFit',
  args: fitArgs,
  make(
    { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy },
    handle,
  ): Plugin<Demand, readonly RequestedResource[]> {
    const names = new Set(ignoredResources)
    const groups = new Set(ignoredResourceGroups)
    const demand = (pod: PodInfo): Demand =>
      demandOf(pod, (name) => names.has(name) || groups.has(name.slice(0, name.indexOf('/'))))
    const strategy = strategyOf(scoringStrategy)
    const rejection = rejections()
    const classOf = classesByResource(handle)
    // A resource that the node lacks entirely may be a driver's device; then DynamicResources decides.
    const isOthers = ({ resource, capacity }: Shortfall): boolean => capacity === 0 && classOf(resource) !== undefined
    return {
      events: [
        on('Pod', ['Delete', 'UpdateScaleDown'], freesSomething),
        on('DeviceClass', ['Add', 'Update'], standsForMore),
        on('Node', ['Add', 'UpdateAllocatable'], (pod, before, after) => {
          if (!after) return false
          const demand = demandOf(pod, () => false)
          const node = new NodeInfo(after)
          if (shortfalls(demand, node).some((one) => !isOthers(one))) return false
          return !before || hasGrown(before, after, demand) || !fits(demand, node)
        }),
      ],
      preFilter: (pod) => ({ state: demand(pod) }),
      filter(demand, _pod, node) {
        if (fits(demand, node)) return undefined
        const lacking = shortfalls(demand, node).filter((one) => !isOthers(one))
        return lacking.length > 0 ? rejection(lacking) : undefined
      },
      preScore: (pod) => ({ state: requestedOf(scoringStrategy.resources, pod, true) }),
      score: (resources, _pod, node) => strategy(resources, node),
    }
  },
})

function strategyOf({ type, requestedToCapacityRatio: ratio }: ScoringStrategy): Strategy {
  if (type === 'MostAllocated') return mostAllocated
  return type === 'RequestedToCapacityRatio' ? requestedToCapacityRatio(ratio?.shape ?? []) : leastAllocated
}

/**
 * Cached statuses of shortfalls: there are few, and a full cluster needs one per node. If the node's capacity is too
 * small, preemption does not help.
 */
function rejections(): (lacking: readonly Shortfall[]) => Status {
  const known = new Map<string, Status>()
  return (lacking) => {
    const isTooSmall = lacking.some(({ resource, requested, capacity }) => resource !== 'pods' && requested > capacity)
    let key = isTooSmall ? '!' : ''
    for (const { resource } of lacking) key += `${resource} `
    const status = known.get(key)
    if (status) return status
    const reasons = lacking.map(({ resource }) => (resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`))
    const made = isTooSmall ? unresolvable(...reasons) : unschedulable(...reasons)
    if (known.size >= 1000) known.clear()
    known.set(key, made)
    return made
  }
}

/** True for a deleted pod with a node, and for a pod resized down in a resource that the waiting pod requests. */
function freesSomething(pod: PodInfo, before: Pod | undefined, after: Pod | undefined): boolean {
  if (!after) return Boolean(before?.spec?.nodeName || before?.status?.nominatedNodeName)
  if (after.metadata.uid === pod.uid) return true
  if (!after.spec?.nodeName || !before) return false
  const [had, has] = [new PodInfo(before).requests, new PodInfo(after).requests]
  const { cpu, memory, ephemeralStorage, scalars } = demandOf(pod, () => false)
  return (
    (cpu > 0 && had.milliCPU > has.milliCPU) ||
    (memory > 0 && had.memory > has.memory) ||
    (ephemeralStorage > 0 && had.ephemeralStorage > has.ephemeralStorage) ||
    scalars.some(([name]) => amountOf(had, name) > amountOf(has, name))
  )
}

/** Returns true if a class backs a resource of the pod that it did not back before. */
function standsForMore(
  { requests }: PodInfo,
  before: DeviceClass | undefined,
  after: DeviceClass | undefined,
): boolean {
  const known = before ? resourcesOfClass(before) : []
  return (
    after !== undefined && resourcesOfClass(after).some((name) => !known.includes(name) && requests.scalar.has(name))
  )
}

/** Returns true if a node has more of a requested resource than before. */
function hasGrown(before: Node, after: Node, { cpu, memory, ephemeralStorage, scalars }: Demand): boolean {
  const [had, has] = [resourcesOf(before.status?.allocatable), resourcesOf(after.status?.allocatable)]
  return (
    has.pods > had.pods ||
    (cpu > 0 && has.milliCPU > had.milliCPU) ||
    (memory > 0 && has.memory > had.memory) ||
    (ephemeralStorage > 0 && has.ephemeralStorage > had.ephemeralStorage) ||
    scalars.some(([name]) => amountOf(has, name) > amountOf(had, name))
  )
}
