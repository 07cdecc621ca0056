/**
 * What a pod takes of its node: containers at once, init containers one after the other, sidecars beside both,
 * overhead, or what it asks for as a whole.
 */
import { podRequests as listOfRequests } from '../../../api/core/pod/resources/pod-resources.ts'
import type { Pod } from '../../../client/kinds.ts'
import { own } from '../../../lib/own.ts'
import { type ResourceList, type Resources, resourcesOf } from '../resources.ts'

/** What a container counts for that asks for nothing, where nodes are compared by how full they are. */
const assumed = { cpu: '100m', memory: '200Mi' } as const

export interface PodRequests {
  /** What it asks for, or still has while it is being resized (KEP-1287). */
  readonly requests: Readonly<Resources>
  /**
   * With something assumed for containers that ask for no cpu or no memory: only for scores, or all such pods would go
   * to one node.
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
const mostKnown = 4096

/** Pods by the hundred thousand ask for few different things: what is equal is kept once. */
function shared(requests: PodRequests): PodRequests {
  const { requests: asked, nonZero } = requests
  if (asked.scalar.size > 0) return requests
  const key = `${asked.milliCPU} ${asked.memory} ${asked.ephemeralStorage} ${nonZero.milliCPU} ${nonZero.memory}`
  const before = known.get(key)
  if (before) return before
  if (known.size >= mostKnown) known.clear()
  known.set(key, requests)
  return requests
}

/**
 * A pod that asks for something as a whole leaves open only what it does not name at all. Undefined if nothing is
 * missing.
 */
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
