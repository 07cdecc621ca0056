/** The messages of evictions, which end up in events, statuses and conditions. Upstream's, letter by letter. */
import { hasPodResources } from '../../api/core/pod/resources/pod-resources.ts'
import { canonicalQuantity, wholeValue } from '../../machinery/values/quantity.ts'
import { type Pod, specOf } from '../pod-types.ts'
import type { ContainerUsage, PodUsage } from '../stats/usage/usage-snapshot.ts'
import type { Observations } from './observations.ts'
import { type StarvedResource, signals } from './signals.ts'
import { amountText, bytesText, type Threshold } from './thresholds.ts'

export interface Shortage {
  readonly resource: StarvedResource
  /** The thresholds that are crossed, most urgent first. */
  readonly thresholds: readonly Threshold[]
  readonly observations: Observations
}

/** A container that uses more than it requests. */
interface OffendingContainer {
  readonly name: string
  readonly used: number
  readonly request: string
}

/** The message of the pod that is evicted: which of its containers use more than they request. */
export function evictionMessage(pod: Pod, usage: PodUsage | undefined, { resource, ...shortage }: Shortage): string {
  const low = `The node was low on resource: ${resource}. ${thresholdText(resource, shortage)}`
  if (!usage) return low
  const exceeding = offendingContainers(pod, usage, resource).map(({ name, used, request }) =>
    consumptionText(`Container ${name}`, used, request, resource),
  )
  return low + podText(pod, usage, resource) + exceeding.join('')
}

/** The annotations of the event of a pod that is evicted, for programs that read events. */
export function evictionAnnotations(
  pod: Pod,
  usage: PodUsage | undefined,
  resource: StarvedResource,
): Readonly<Record<string, string>> {
  if (!usage) return { starved_resource: resource }
  const offending = offendingContainers(pod, usage, resource)
  return {
    starved_resource: resource,
    offending_containers: offending.map(({ name }) => name).join(','),
    offending_containers_usage: offending.map(({ used }) => bytesText(used)).join(','),
  }
}

function offendingContainers(pod: Pod, usage: PodUsage, resource: StarvedResource): readonly OffendingContainer[] {
  const { containers, initContainers = [] } = specOf(pod)
  const known = [...containers, ...initContainers]
  return usage.containers.flatMap((one) => {
    const container = known.find(({ name }) => name === one.name)
    const used = usedBytes(one, resource)
    const request = canonicalQuantity(container?.resources?.requests?.[resource] ?? '0')
    if (!container || used === undefined || used <= Number(wholeValue(request))) return []
    return [{ name: one.name, used, request }]
  })
}

function thresholdText(resource: StarvedResource, { thresholds, observations }: Omit<Shortage, 'resource'>): string {
  for (const { signal, value } of thresholds) {
    const observed = observations.get(signal)
    if (signals[signal].resource !== resource || !observed) continue
    const available = bytesText(observed.available)
    return `Threshold quantity: ${amountText(value, observed.capacity)}, available: ${available}. `
  }
  return ''
}

/** A pod with resources of its own is named beside its containers. */
function podText(pod: Pod, { usage }: PodUsage, resource: StarvedResource): string {
  const request = specOf(pod).resources?.requests?.[resource]
  if (resource !== 'memory' || !hasPodResources(pod) || request === undefined || !usage) return ''
  const { workingSet } = usage.memory
  return consumptionText(`Pod ${pod.metadata.name}`, workingSet, canonicalQuantity(request), resource)
}

const consumptionText = (subject: string, used: number, request: string, resource: string): string =>
  `${subject} was using ${bytesText(used)}, request is ${request}, has larger consumption of ${resource}. `

function usedBytes({ usage, writableLayer, logs }: ContainerUsage, resource: StarvedResource): number | undefined {
  if (resource === 'memory') return usage?.memory.workingSet
  if (resource !== 'ephemeral-storage' || !writableLayer || !logs) return undefined
  return writableLayer.usedBytes + logs.usedBytes
}
