/** The order in which a kubelet evicts pods, and its messages: pure functions of requests and usage. */
import { systemPriorityClasses } from '../../../api/scheduling/system-priority-classes.ts'
import { keyOf } from '../../../client/informers/object-store.ts'
import type { Pod } from '../../../client/kinds.ts'
import { canonicalQuantity, parseQuantity } from '../../../machinery/values/quantity.ts'
import type { Container } from '../../../node/pods/pod-types.ts'
import type { Pressure } from '../../nodes/failures.ts'

/** The usage of the short resource by container, in bytes. Unmeasured containers are missing. */
export type Consumption = ReadonlyMap<string, number>

const criticalPriority = Math.min(...systemPriorityClasses.map(({ value }) => value))

/** Returns true if a pod is never evicted. */
export const isCritical = ({ spec }: Pod): boolean =>
  (spec?.priority ?? 0) >= criticalPriority ||
  systemPriorityClasses.some(({ name }) => name === spec?.priorityClassName)

/**
 * Sorts pods in the order of their eviction: pods over their requests first, then by priority, then by the excess. For
 * a lack of process ids only the priority counts.
 */
export function rank(pods: Iterable<Pod>, { resource }: Pressure, consumption: (pod: Pod) => Consumption): Pod[] {
  const ranked = [...pods].map((pod) => {
    const excess = resource === 'pids' ? 0 : excessOf(pod, resource, consumption(pod))
    return { pod, exceeds: excess > 0, priority: pod.spec?.priority ?? 0, excess }
  })
  return ranked
    .sort(
      (a, b) =>
        Number(b.exceeds) - Number(a.exceeds) ||
        a.priority - b.priority ||
        b.excess - a.excess ||
        keyOf(a.pod).localeCompare(keyOf(b.pod)),
    )
    .map(({ pod }) => pod)
}

function excessOf({ spec }: Pod, resource: string, used: Consumption): number {
  return (spec?.containers ?? []).reduce(
    (sum, container) => sum + (used.get(container.name) ?? 0) - requestOf(container, resource),
    0,
  )
}

const giga = 1e9

const requestOf = ({ resources }: Container, resource: string): number =>
  Number(parseQuantity(resources?.requests?.[resource] ?? '0').nano) / giga

/** The message for the pod's status and event. `capacity` is the node's. */
export function evictionMessage(
  { spec }: Pod,
  { resource, threshold }: Pressure,
  capacity: Readonly<Record<string, string>>,
  used: Consumption,
): string {
  const shortage = threshold?.(capacity)
  const parts = [`The node was low on resource: ${resource}. `]
  if (shortage) parts.push(`Threshold quantity: ${shortage.quantity}, available: ${shortage.available}. `)
  for (const container of spec?.containers ?? []) {
    const usage = used.get(container.name)
    if (usage === undefined || usage <= requestOf(container, resource)) continue
    const request = container.resources?.requests?.[resource] ?? '0'
    parts.push(
      `Container ${container.name} was using ${binary(usage)}, request is ${request}, has larger consumption of ` +
        `${resource}. `,
    )
  }
  return parts.join('')
}

/** Formats bytes, rounded up to the next KiB. */
export const binary = (bytes: number): string => canonicalQuantity(`${Math.ceil(bytes / 1024)}Ki`)
