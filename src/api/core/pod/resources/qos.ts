/** Quality of service: who is evicted first when a node runs short. */
import { addQuantities, compareQuantities, signOf } from '../../../../machinery/values/quantity.ts'
import type { ResourceList } from '../../quota/resource-list.ts'
import type { PodSpec } from '../model.ts'

const computeResources = ['cpu', 'memory'] as const

/**
 * Guaranteed if all containers limit cpu and memory and ask for just that, BestEffort if none asks for anything, else
 * Burstable.
 */
export function qosClass(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const requests: ResourceList = {}
  const limits: ResourceList = {}
  let guaranteed = true
  const sources =
    spec.resources?.limits || spec.resources?.requests
      ? [spec]
      : [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  for (const { resources } of sources) {
    let limited = 0
    for (const name of computeResources) {
      add(requests, name, resources?.requests?.[name])
      if (add(limits, name, resources?.limits?.[name])) limited++
    }
    if (limited < computeResources.length) guaranteed = false
  }
  const asked = Object.keys(requests)
  const capped = Object.keys(limits)
  if (asked.length === 0 && capped.length === 0) return 'BestEffort'
  const equal =
    asked.length === capped.length &&
    asked.every((name) => limits[name] !== undefined && compareQuantities(requests[name] as string, limits[name]) === 0)
  return guaranteed && equal ? 'Guaranteed' : 'Burstable'
}

/** Adds an amount above zero and says whether there was one. */
function add(list: ResourceList, name: string, amount: string | undefined): boolean {
  if (amount === undefined || signOf(amount) <= 0) return false
  list[name] = list[name] === undefined ? amount : addQuantities(list[name], amount)
  return true
}
