/**
 * How many replicas follow from what pods use (the Horizontal Pod Autoscaling page: algorithm details). The answer is
 * conservative: pods without metrics count as idle where more are wanted, and as busy where fewer are; pods that are
 * not ready yet count as idle.
 */
import { podRequests as wholeRequests } from '../../../api/core/pod/resources/pod-resources.ts'
import type { Pod } from '../../../client/kinds.ts'
import { milliValue } from '../../../machinery/values/quantity.ts'
import { isReady, podCondition } from '../../pods/phase.ts'
import type { PodMetrics } from '../metrics/metrics-client.ts'

/** By how much of the wanted value a measured one may be off before anything is done. */
export interface Tolerances {
  readonly down: number
  readonly up: number
}

export const isWithin = (ratio: number, { down, up }: Tolerances): boolean => 1 - down <= ratio && ratio <= 1 + up

/** When the CPU of a pod counts that has just begun. Milliseconds. */
export interface Readiness {
  /** For so long after its start a pod has to be ready, and measured since. */
  readonly initializationMs: number
  /** A pod that became unready later than this after its start has been ready before. */
  readonly delayMs: number
  /** Since the epoch. */
  readonly now: number
}

export interface PodGroups {
  readonly ready: number
  readonly unready: ReadonlySet<string>
  readonly missing: ReadonlySet<string>
  /** Those that go or have failed. */
  readonly ignored: ReadonlySet<string>
}

/** Only of CPU it is known that pods use more of it while they start. */
export function groupedPods(
  pods: Iterable<Pod>,
  metrics: PodMetrics,
  resource: string,
  readiness: Readiness,
): PodGroups {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let ready = 0
  for (const pod of pods) {
    const name = pod.metadata.name ?? ''
    const metric = metrics.get(name)
    if (pod.metadata.deletionTimestamp || pod.status?.phase === 'Failed') ignored.add(name)
    else if (pod.status?.phase === 'Pending') unready.add(name)
    else if (!metric) missing.add(name)
    else if (resource === 'cpu' && !isMeasuredReady(pod, metric, readiness)) unready.add(name)
    else ready++
  }
  return { ready, unready, missing, ignored }
}

function isMeasuredReady(
  pod: Pod,
  { at, windowMs }: { at: number; windowMs: number },
  { initializationMs, delayMs, now }: Readiness,
): boolean {
  const condition = podCondition(pod, 'Ready')
  const startTime = pod.status?.startTime
  if (!condition || !startTime) return false
  const started = Date.parse(startTime)
  const changed = Date.parse(condition.lastTransitionTime ?? '') || 0
  if (started + initializationMs > now) return condition.status !== 'False' && at >= changed + windowMs
  return condition.status !== 'False' || started + delayMs <= changed
}

/**
 * What pods ask for of a resource, in thousandths, by their names. Throws an Error for a container that asks for
 * nothing.
 */
export function podRequests(pods: Iterable<Pod>, resource: string, container = ''): ReadonlyMap<string, number> {
  return new Map([...pods].map((pod) => [pod.metadata.name ?? '', podRequest(pod, resource, container)]))
}

function podRequest(pod: Pod, resource: string, container: string): number {
  const {
    metadata: { name },
    spec,
  } = pod
  // What a pod that asks as a whole does not name is what its containers ask for.
  if (!container && Object.keys(spec?.resources?.requests ?? {}).length > 0) {
    const request = wholeRequests(pod, { overhead: true })[resource]
    if (request === undefined) throw new Error(`missing pod-level request for ${resource} in Pod ${name}`)
    return Number(milliValue(request))
  }
  const all = [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ]
  const asked = container ? all.filter((one) => one.name === container) : all
  if (container && asked.length === 0) throw new Error(`container ${container} not found in Pod ${name}`)
  return asked.reduce((sum, { name: of, resources }) => {
    const request = resources?.requests?.[resource]
    if (request === undefined) throw new Error(`missing request for ${resource} in container ${of} of Pod ${name}`)
    return sum + Number(milliValue(request))
  }, 0)
}

/** Measured of wanted, and what is measured as the status tells it. */
export interface Usage {
  readonly ratio: number
  /** The average of a pod, in thousandths. */
  readonly average: number
  /** Per cent of what is asked for. */
  readonly utilization?: number
}

/** How values of pods are measured. */
export interface Measure {
  usage(values: ReadonlyMap<string, number>): Usage
  /** What a pod without metrics counts as where fewer replicas are wanted. */
  busy(pod: string): number
}

/** Use in per cent of what is asked for. */
export function utilizationMeasure(requests: ReadonlyMap<string, number>, target: number): Measure {
  return {
    usage(values) {
      const known = [...values].filter(([pod]) => requests.has(pod))
      const used = sum(known.map(([, value]) => value))
      const asked = sum(known.map(([pod]) => requests.get(pod) ?? 0))
      if (asked === 0) throw new Error('no metrics returned matched known pods')
      const utilization = Math.trunc((used * 100) / asked)
      return { ratio: utilization / target, average: Math.trunc(used / known.length), utilization }
    },
    busy: (pod) => Math.trunc(((requests.get(pod) ?? 0) * Math.max(100, target)) / 100),
  }
}

/** An amount per pod; `target` is in thousandths. */
export const averageMeasure = (target: number): Measure => ({
  usage(values) {
    const average = Math.trunc(sum([...values.values()]) / values.size)
    return { ratio: average / target, average }
  },
  busy: () => target,
})

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export interface PodReplicas {
  readonly replicas: number
  readonly usage: Usage
}

/** How many replicas follow. Throws an Error where no pod counts. */
export function podReplicas(
  current: number,
  metrics: PodMetrics,
  groups: PodGroups,
  measure: Measure,
  tolerances: Tolerances,
): PodReplicas {
  const values = new Map(
    [...metrics]
      .filter(([pod]) => !groups.ignored.has(pod) && !groups.unready.has(pod))
      .map(([pod, { value }]) => [pod, value]),
  )
  if (values.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)')
  const usage = measure.usage(values)
  const { ratio } = usage
  const withUnready = groups.unready.size > 0 && ratio > 1
  if (!withUnready && groups.missing.size === 0) {
    return { replicas: isWithin(ratio, tolerances) ? current : Math.ceil(ratio * groups.ready), usage }
  }
  if (ratio !== 1) for (const pod of groups.missing) values.set(pod, ratio < 1 ? measure.busy(pod) : 0)
  if (withUnready) for (const pod of groups.unready) values.set(pod, 0)
  const { ratio: careful } = measure.usage(values)
  const turns = (ratio < 1 && careful > 1) || (ratio > 1 && careful < 1)
  if (turns || isWithin(careful, tolerances)) return { replicas: current, usage }
  const replicas = Math.ceil(careful * values.size)
  // More pods are counted now than before: that alone must not turn the direction.
  const isWrongWay = (careful < 1 && replicas > current) || (careful > 1 && replicas < current)
  return { replicas: isWrongWay ? current : replicas, usage }
}

/**
 * Replicas for a value of something that is not a pod: what ready pods bear now, they should bear at the wanted value.
 */
export function valueReplicas(current: number, ratio: number, pods: Iterable<Pod>, tolerances: Tolerances): number {
  if (current === 0) return Math.ceil(ratio)
  if (isWithin(ratio, tolerances)) return current
  const all = [...pods]
  if (all.length === 0)
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count')
  return bounded(Math.ceil(ratio * all.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length))
}

/** Replicas for a value that is shared by all pods, of which each should bear `target`; and what each bears now. */
export function sharedReplicas(
  statusReplicas: number,
  value: number,
  target: number,
  tolerances: Tolerances,
): { readonly replicas: number; readonly average: number } {
  const ratio = value / (target * statusReplicas)
  const replicas = isWithin(ratio, tolerances) ? statusReplicas : bounded(Math.ceil(value / target))
  return { replicas, average: statusReplicas === 0 ? 0 : Math.ceil(value / statusReplicas) }
}

/** An int32. */
const mostReplicas = 2 ** 31 - 1
const bounded = (replicas: number): number => Math.min(replicas, mostReplicas)
