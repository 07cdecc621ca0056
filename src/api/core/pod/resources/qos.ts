/** The QoS class of a pod, which determines the order of evictions under node pressure. */
import { addQuantities, compareQuantities, signOf } from '../../../../machinery/values/quantity.ts'
import type { ResourceList } from '../../quota/resource-list.ts'
import type { PodSpec } from '../model.ts'

const computeResources = ['cpu', 'memory'] as const

/**
 * Guaranteed if all containers have limits for cpu and memory and equal requests, BestEffort if none has requests or
 * limits, else Burstable.
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
  const requestNames = Object.keys(requests)
  const limitNames = Object.keys(limits)
  if (requestNames.length === 0 && limitNames.length === 0) return 'BestEffort'
  const equal =
    requestNames.length === limitNames.length &&
    requestNames.every(
      (name) => limits[name] !== undefined && compareQuantities(requests[name] as string, limits[name]) === 0,
    )
  return guaranteed && equal ? 'Guaranteed' : 'Burstable'
}

/** Adds a positive amount. Returns false for other amounts. */
function add(list: ResourceList, name: string, amount: string | undefined): boolean {
  if (amount === undefined || signOf(amount) <= 0) return false
  list[name] = list[name] === undefined ? amount : addQuantities(list[name], amount)
  return true
}
