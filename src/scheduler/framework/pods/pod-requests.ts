/**
 * The requests of a pod: the sum of its containers, the largest init container, sidecars beside both, and overhead; or
 * its pod-level resources.
 */
import { podRequests as listOfRequests } from '../../../api/core/pod/resources/pod-resources.ts'
import type { Pod } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import { type ResourceList, type Resources, resourcesOf } from '../resources.ts'

/** The assumed requests, for scores, of containers without requests. */
const assumed = { cpu: '100m', memory: '200Mi' } as const

export interface PodRequests {
  /** Its requests; during a resize (KEP-1287) also the resources that it still uses. */
  readonly requests: Readonly<Resources>
  /**
   * The same with defaults for containers without CPU or memory requests. Only for scores; without it all such pods
   * would go to one node.
   */
  readonly nonZero: Readonly<Pick<Resources, 'milliCPU' | 'memory'>>
}

const options = { overhead: true, status: true } as const

export function podRequests(pod: Pod): PodRequests {
  const list = listOfRequests(pod, options)
  const requests = resourcesOf(list)
  const missing = missingOf(pod, list)
  const { milliCPU, memory } = missing ? resourcesOf(listOfRequests(pod, { ...options, missing })) : requests
  return shared({ requests, nonZero: { milliCPU, memory } })
}

const known = new Map<string, PodRequests>()
const maxCached = 4096

/** Hundreds of thousands of pods have few different requests, so equal ones are stored once. */
function shared(requests: PodRequests): PodRequests {
  const { requests: amounts, nonZero } = requests
  if (amounts.scalar.size > 0) return requests
  const key = `${amounts.milliCPU} ${amounts.memory} ${amounts.ephemeralStorage} ${nonZero.milliCPU} ${nonZero.memory}`
  const equal = known.get(key)
  if (equal) return equal
  if (known.size >= maxCached) known.clear()
  known.set(key, requests)
  return requests
}

/** With pod-level resources, only those are missing that the list does not name. Undefined if nothing is missing. */
function missingOf({ spec }: Pod, list: ResourceList): Record<string, string> | undefined {
  const whole = spec?.resources?.requests
  const isMissing = (name: string): boolean => {
    if (whole) return own(list, name) === undefined
    return [spec?.containers, spec?.initContainers].some((containers) =>
      containers?.some(({ resources }) => own(resources?.requests, name) === undefined),
    )
  }
  const missing = Object.entries(assumed).filter(([name]) => isMissing(name))
  return missing.length > 0 ? Object.fromEntries(missing) : undefined
}
