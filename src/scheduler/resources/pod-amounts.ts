/** What a pod takes of a node: its containers, sidecars, init containers and overhead, or what it asks for as a whole. */
import { podRequests } from '../../api/core/pod/pod-resources.ts'
import type { Pod } from '../../client/kinds.ts'
import { type Amounts, amountsOf } from './amounts.ts'

export interface PodAmounts {
  /** What it asks for, or has been given while it is being resized. */
  readonly requests: Amounts
  /** The same for scoring: a container that asks for no cpu or no memory counts for a little, or such pods would all go to one node. */
  readonly nonZero: { readonly cpu: number; readonly memory: number }
}

/** What a container counts for when it asks for nothing. */
export const containerDefaults = { cpu: '100m', memory: '200Mi' } as const

export function podAmounts(pod: Pod): PodAmounts {
  const requests = podRequests(pod, { overhead: true, status: true })
  const amounts = amountsOf(requests)
  const missing = missingOf(pod, requests)
  const { cpu, memory } = missing ? amountsOf(podRequests(pod, { overhead: true, status: true, missing })) : amounts
  return { requests: amounts, nonZero: { cpu, memory } }
}

/** A pod that asks as a whole for one of them leaves only the other one open. Undefined if nothing is missing. */
function missingOf({ spec }: Pod, requests: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const whole = spec?.resources?.requests
  const names = (['cpu', 'memory'] as const).filter((name) => {
    if (whole && Object.keys(whole).length > 0) return requests[name] === undefined
    return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ resources }) => resources?.requests?.[name] === undefined)
  })
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, containerDefaults[name]])) : undefined
}
