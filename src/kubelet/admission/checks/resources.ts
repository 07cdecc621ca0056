/** The resources that a pod needs of a node, and those that are left. Amounts are upstream's: CPU in thousandths. */
import { podRequests } from '../../../api/core/pod/resources/pod-resources.ts'
import { milliValue, wholeValue } from '../../../machinery/values/quantity.ts'
import type { Pod } from '../../pod-types.ts'

export type Amounts = ReadonlyMap<string, bigint>

/** A resource of which a node has too little. */
export interface Shortage {
  readonly resource: string
  readonly requested: bigint
  readonly used: bigint
  readonly capacity: bigint
}

const amountsOf = (list: Readonly<Record<string, string>>): Map<string, bigint> =>
  new Map(Object.entries(list).map(([name, text]) => [name, name === 'cpu' ? milliValue(text) : wholeValue(text)]))

/** The requests of a pod with its overhead; as a pod it needs one of `pods`. */
export const requestsOf = (pod: Pod): Amounts => amountsOf(podRequests(pod, { overhead: true })).set('pods', 1n)

/** Resources in upstream's order; others follow. */
const order: readonly string[] = ['pods', 'cpu', 'memory', 'ephemeral-storage']

/** Returns all resources that are insufficient for one more pod. Extended ones that no node has count nothing. */
export function shortages(
  pod: Pod,
  others: readonly Pod[],
  allocatable: Readonly<Record<string, string>>,
): readonly Shortage[] {
  const capacities = amountsOf(allocatable)
  const used = new Map<string, bigint>()
  for (const other of others)
    for (const [name, amount] of requestsOf(other)) used.set(name, (used.get(name) ?? 0n) + amount)
  const requests = requestsOf(pod)
  const names = [...order, ...[...requests.keys()].filter((name) => !order.includes(name)).sort()]
  return names.flatMap((resource): Shortage[] => {
    const requested = requests.get(resource) ?? 0n
    const capacity = capacities.get(resource)
    if (requested === 0n || (capacity === undefined && isExtended(resource))) return []
    const shortage = { resource, requested, used: used.get(resource) ?? 0n, capacity: capacity ?? 0n }
    return requested > shortage.capacity - shortage.used ? [shortage] : []
  })
}

/** True for resources of other domains, such as `example.com/gpu`. */
const isExtended = (name: string): boolean => name.includes('/') && !/^([^/]*\.)?kubernetes\.io\//.test(name)
