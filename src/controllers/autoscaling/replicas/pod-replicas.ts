/**
 * Computes replicas from the usage of pods (see the Horizontal Pod Autoscaling page: algorithm details). The result is
 * conservative: pods without metrics count as idle on scale-up and as busy on scale-down; unready pods count as idle.
 */
import { podRequests as wholeRequests } from '../../../api/core/pod/resources/pod-resources.ts'
import type { Pod } from '../../../client/kinds.ts'
import { milliValue } from '../../../machinery/values/quantity.ts'
import { isReady, podCondition } from '../../pods/phase.ts'
import type { PodMetrics } from '../metrics/metrics-client.ts'

/** Relative deviations from the target value that cause no change. */
export interface Tolerances {
  readonly down: number
  readonly up: number
}

export const isWithin = (ratio: number, { down, up }: Tolerances): boolean => 1 - down <= ratio && ratio <= 1 + up

/** Parameters for counting the CPU of starting pods, in ms. */
export interface Readiness {
  /** Time after its start in which a pod must be ready and measured since. */
  readonly initializationMs: number
  /** A pod that became unready later than this after its start counts as having been ready. */
  readonly delayMs: number
  /** In ms since the epoch. */
  readonly now: number
}

export interface PodGroups {
  readonly ready: number
  readonly unready: ReadonlySet<string>
  readonly missing: ReadonlySet<string>
  /** Deleted and failed pods. */
  readonly ignored: ReadonlySet<string>
}

/** Groups pods. Only for CPU, starting pods are unready, as they use more CPU while they start. */
export function groupPods(pods: Iterable<Pod>, metrics: PodMetrics, resource: string, readiness: Readiness): PodGroups {
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

/** The requests of a resource by pod name, in thousandths. Throws an Error for a container without a request. */
export function podRequests(pods: Iterable<Pod>, resource: string, container = ''): ReadonlyMap<string, number> {
  return new Map([...pods].map((pod) => [pod.metadata.name ?? '', podRequest(pod, resource, container)]))
}

function podRequest(pod: Pod, resource: string, container: string): number {
  const {
    metadata: { name },
    spec,
  } = pod
  // Pod-level requests include container requests of resources that they do not list.
  if (!container && Object.keys(spec?.resources?.requests ?? {}).length > 0) {
    const request = wholeRequests(pod, { overhead: true })[resource]
    if (request === undefined) throw new Error(`missing pod-level request for ${resource} in Pod ${name}`)
    return Number(milliValue(request))
  }
  const all = [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ]
  const selected = container ? all.filter((one) => one.name === container) : all
  if (container && selected.length === 0) throw new Error(`container ${container} not found in Pod ${name}`)
  return selected.reduce((sum, { name: of, resources }) => {
    const request = resources?.requests?.[resource]
    if (request === undefined) throw new Error(`missing request for ${resource} in container ${of} of Pod ${name}`)
    return sum + Number(milliValue(request))
  }, 0)
}

/** The ratio of measured to target value, and the measured values for the status. */
export interface Usage {
  readonly ratio: number
  /** The average per pod, in thousandths. */
  readonly average: number
  /** In percent of requests. */
  readonly utilization?: number
}

/** Converts values of pods to a usage. */
export interface Measure {
  usage(values: ReadonlyMap<string, number>): Usage
  /** The assumed value of a pod without metrics on scale-down. */
  busyValue(pod: string): number
}

/** Measures usage in percent of requests. */
export function utilizationMeasure(requests: ReadonlyMap<string, number>, target: number): Measure {
  return {
    usage(values) {
      const known = [...values].filter(([pod]) => requests.has(pod))
      const used = sum(known.map(([, value]) => value))
      const selected = sum(known.map(([pod]) => requests.get(pod) ?? 0))
      if (selected === 0) throw new Error('no metrics returned matched known pods')
      const utilization = Math.trunc((used * 100) / selected)
      return { ratio: utilization / target, average: Math.trunc(used / known.length), utilization }
    },
    busyValue: (pod) => Math.trunc(((requests.get(pod) ?? 0) * Math.max(100, target)) / 100),
  }
}

/** Measures an average per pod; `target` is in thousandths. */
export const averageMeasure = (target: number): Measure => ({
  usage(values) {
    const average = Math.trunc(sum([...values.values()]) / values.size)
    return { ratio: average / target, average }
  },
  busyValue: () => target,
})

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export interface PodReplicas {
  readonly replicas: number
  readonly usage: Usage
}

/** Computes the replicas. Throws an Error if no pod has metrics. */
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
  if (ratio !== 1) for (const pod of groups.missing) values.set(pod, ratio < 1 ? measure.busyValue(pod) : 0)
  if (withUnready) for (const pod of groups.unready) values.set(pod, 0)
  const { ratio: conservative } = measure.usage(values)
  const isReversed = (ratio < 1 && conservative > 1) || (ratio > 1 && conservative < 1)
  if (isReversed || isWithin(conservative, tolerances)) return { replicas: current, usage }
  const replicas = Math.ceil(conservative * values.size)
  // Counting more pods must not reverse the direction.
  const isWrongWay = (conservative < 1 && replicas > current) || (conservative > 1 && replicas < current)
  return { replicas: isWrongWay ? current : replicas, usage }
}

/** Replicas for a value that is not measured per pod: scales the number of ready pods by the ratio to the target. */
export function valueReplicas(current: number, ratio: number, pods: Iterable<Pod>, tolerances: Tolerances): number {
  if (current === 0) return Math.ceil(ratio)
  if (isWithin(ratio, tolerances)) return current
  const all = [...pods]
  if (all.length === 0)
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count')
  return bounded(Math.ceil(ratio * all.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length))
}

/** Replicas for a value that is shared by all pods, with `target` per pod; also the current average. */
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

/** The largest int32. */
const maxReplicas = 2 ** 31 - 1
const bounded = (replicas: number): number => Math.min(replicas, maxReplicas)
