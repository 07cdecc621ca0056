/**
 * Conversion between autoscalers of v1 and v2. v1 has one metric, the CPU utilization; annotations hold the other
 * fields of v2 in upstream's format: metrics in the shape of v1, behavior with Go's field names.
 */
import type { V1HorizontalPodAutoscaler } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { defaultMetric, statusDefaults } from './defaults.ts'
import type { Autoscaler, Behavior, Metric, MetricStatus } from './rules.ts'

export type AutoscalerV1 = Model<V1HorizontalPodAutoscaler>

const prefix = 'autoscaling.alpha.kubernetes.io'
const annotations = {
  metrics: `${prefix}/metrics`,
  statuses: `${prefix}/current-metrics`,
  conditions: `${prefix}/conditions`,
  behavior: `${prefix}/behavior`,
}

/** Returns true if an autoscaler of v1 has metrics in an annotation. */
export const hasOtherMetrics = ({ metadata }: AutoscalerV1): boolean =>
  metadata.annotations?.[annotations.metrics] !== undefined

interface Flat {
  readonly type: string
  readonly resource?: Record<string, unknown>
  readonly containerResource?: Record<string, unknown>
  readonly pods?: Record<string, unknown>
  readonly object?: Record<string, unknown>
  readonly external?: Record<string, unknown>
}

/** Drops members that are undefined or null. */
const defined = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null)) as T

const isCpu = ({ type, resource }: Metric | MetricStatus): boolean => type === 'Resource' && resource?.name === 'cpu'
const isPercentage = (metric: Metric): boolean =>
  isCpu(metric) && metric.resource?.target.averageUtilization !== undefined

/**
 * Converts from v2: a CPU utilization becomes the field; all other metrics, and every metric status with its raw value,
 * become annotations.
 */
export function toV1(scaler: Autoscaler): AutoscalerV1 {
  const { spec, status, metadata, ...rest } = scaler
  const metrics = spec?.metrics ?? []
  const cpu = metrics.find(isCpu)
  const others = metrics.filter((metric) => !isPercentage(metric))
  const statuses = status?.currentMetrics ?? []
  const cpuStatus = statuses.findLast((one) => isCpu(one) && one.resource?.current.averageUtilization !== undefined)
  const notes: Record<string, string> = { ...metadata.annotations }
  // Annotations that a client wrote itself are not part of the conversion.
  for (const key of Object.values(annotations)) delete notes[key]
  if (others.length > 0) notes[annotations.metrics] = JSON.stringify(others.map(flatMetric))
  if (statuses.length > 0) notes[annotations.statuses] = JSON.stringify(statuses.map(flatStatus))
  if (status?.conditions?.length) notes[annotations.conditions] = JSON.stringify(status.conditions.map(flatCondition))
  if (spec?.behavior) notes[annotations.behavior] = JSON.stringify(flatBehavior(spec.behavior))
  return {
    ...rest,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(metadata, notes),
    spec:
      spec &&
      defined({
        scaleTargetRef: spec.scaleTargetRef,
        minReplicas: spec.minReplicas,
        maxReplicas: spec.maxReplicas,
        targetCPUUtilizationPercentage: cpu?.resource?.target.averageUtilization,
      }),
    status: defined({
      observedGeneration: status?.observedGeneration,
      lastScaleTime: status?.lastScaleTime,
      currentReplicas: status?.currentReplicas ?? 0,
      desiredReplicas: status?.desiredReplicas ?? 0,
      currentCPUUtilizationPercentage: cpuStatus?.resource?.current.averageUtilization,
    }),
  }
}

/** Converts to v2. Annotations that cannot be parsed are ignored; the CPU metric comes last. */
export function fromV1(scaler: AutoscalerV1): Autoscaler {
  const { spec, status, metadata, ...rest } = scaler
  const notes = { ...metadata.annotations }
  const take = <T>(key: string): T | undefined => {
    const text = notes[key]
    delete notes[key]
    if (text === undefined) return undefined
    try {
      return JSON.parse(text) as T
    } catch {
      return undefined
    }
  }
  const metrics = (take<Flat[]>(annotations.metrics) ?? []).map(fullMetric)
  const percent = spec?.targetCPUUtilizationPercentage
  if (percent !== undefined)
    metrics.push({
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
    })
  if (metrics.length === 0) metrics.push(defaultMetric())
  const behavior = take<object>(annotations.behavior)
  const used = status?.currentCPUUtilizationPercentage
  const usedOfCpu =
    used === undefined
      ? []
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: used } } } as MetricStatus]
  const statuses = take<Flat[]>(annotations.statuses)?.map(fullStatus) ?? usedOfCpu
  const conditions = take<NonNullable<NonNullable<Autoscaler['status']>['conditions']>>(annotations.conditions)
  const full = defined({
    observedGeneration: status?.observedGeneration,
    lastScaleTime: status?.lastScaleTime,
    currentReplicas: status?.currentReplicas || undefined,
    desiredReplicas: status?.desiredReplicas ?? 0,
    currentMetrics: statuses.length > 0 ? statuses : undefined,
    conditions,
  }) as NonNullable<Autoscaler['status']>
  statusDefaults(full)
  return {
    ...rest,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(metadata, notes),
    spec:
      spec &&
      defined({
        scaleTargetRef: spec.scaleTargetRef,
        minReplicas: spec.minReplicas,
        maxReplicas: spec.maxReplicas,
        metrics,
        behavior: behavior && (renameFields(behavior, lower) as Behavior),
      }),
    status: full,
  }
}

const withAnnotations = (
  { annotations: _, ...metadata }: Autoscaler['metadata'],
  notes: Readonly<Record<string, string>>,
): Autoscaler['metadata'] => (Object.keys(notes).length > 0 ? { ...metadata, annotations: notes } : metadata)

type Condition = NonNullable<NonNullable<Autoscaler['status']>['conditions']>[number]

/** Members have Go's order. */
const flatCondition = ({ type, status, lastTransitionTime, reason, message }: Condition): object => ({
  type,
  status,
  lastTransitionTime: lastTransitionTime ?? null,
  ...defined({ reason: reason || undefined, message: message || undefined }),
})

/** All members have Go's names and order; absent ones are null. */
const flatBehavior = ({ scaleUp, scaleDown }: Behavior): object => ({
  ScaleUp: flatRules(scaleUp),
  ScaleDown: flatRules(scaleDown),
})

const flatRules = (rules: Behavior['scaleUp']): object | null =>
  rules
    ? {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({ type, value, periodSeconds }) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })) ?? null,
        Tolerance: rules.tolerance ?? null,
      }
    : null

const lower = (key: string): string => key[0]?.toLowerCase() + key.slice(1)

/** Renames all fields, at any depth, and drops those that are null. */
function renameFields(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renameFields(item, rename))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [rename(key), renameFields(member, rename)]),
  )
}

function flatMetric({ type, resource, containerResource, pods, object, external }: Metric): Flat {
  return defined({
    type,
    resource:
      resource &&
      defined({
        name: resource.name,
        targetAverageUtilization: resource.target.averageUtilization,
        targetAverageValue: resource.target.averageValue,
      }),
    containerResource:
      containerResource &&
      defined({
        name: containerResource.name,
        targetAverageUtilization: containerResource.target.averageUtilization,
        targetAverageValue: containerResource.target.averageValue,
        container: containerResource.container,
      }),
    pods:
      pods &&
      defined({
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue,
        selector: pods.metric.selector,
      }),
    object:
      object &&
      defined({
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? (object.target.averageValue === undefined ? undefined : '0'),
        selector: object.metric.selector,
        averageValue: object.target.averageValue,
      }),
    external:
      external &&
      defined({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  })
}

const metric = (name: unknown, selector: unknown): object => defined({ name, selector })
const current = (value: unknown, averageValue: unknown, averageUtilization?: unknown): object =>
  defined({ value, averageValue, averageUtilization })

/** Builds the target of v2 from the flat fields of v1. */
function target(value: unknown, averageValue: unknown, averageUtilization?: unknown): object {
  const type = averageUtilization !== undefined ? 'Utilization' : averageValue !== undefined ? 'AverageValue' : 'Value'
  return defined({ type, value: averageValue === undefined ? value : undefined, averageValue, averageUtilization })
}

function fullMetric({ type, resource, containerResource, pods, object, external }: Flat): Metric {
  return defined({
    type,
    resource: resource && {
      name: resource.name,
      target: target(undefined, resource.targetAverageValue, resource.targetAverageUtilization),
    },
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container,
      target: target(undefined, containerResource.targetAverageValue, containerResource.targetAverageUtilization),
    },
    pods: pods && {
      metric: metric(pods.metricName, pods.selector),
      target: target(undefined, pods.targetAverageValue),
    },
    object: object && {
      describedObject: object.target,
      metric: metric(object.metricName, object.selector),
      target: target(object.targetValue, object.averageValue),
    },
    external: external && {
      metric: metric(external.metricName, external.metricSelector),
      target: target(external.targetValue, external.targetAverageValue),
    },
  }) as unknown as Metric
}

function flatStatus({ type, resource, containerResource, pods, object, external }: MetricStatus): Flat {
  const resourceOf = ({ name, current }: NonNullable<MetricStatus['resource']>): Record<string, unknown> =>
    defined({
      name,
      currentAverageUtilization: current.averageUtilization,
      currentAverageValue: current.averageValue ?? '0',
    })
  return defined({
    type,
    resource: resource && resourceOf(resource),
    containerResource: containerResource && {
      ...resourceOf(containerResource),
      container: containerResource.container,
    },
    pods:
      pods &&
      defined({
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? '0',
        selector: pods.metric.selector,
      }),
    object:
      object &&
      defined({
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? '0',
        selector: object.metric.selector,
        averageValue: object.current.averageValue,
      }),
    external:
      external &&
      defined({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? '0',
        currentAverageValue: external.current.averageValue,
      }),
  })
}

function fullStatus({ type, resource, containerResource, pods, object, external }: Flat): MetricStatus {
  return defined({
    type,
    resource: resource && {
      name: resource.name,
      current: current(undefined, resource.currentAverageValue, resource.currentAverageUtilization),
    },
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container,
      current: current(undefined, containerResource.currentAverageValue, containerResource.currentAverageUtilization),
    },
    pods: pods && {
      metric: metric(pods.metricName, pods.selector),
      current: current(undefined, pods.currentAverageValue),
    },
    object: object && {
      describedObject: object.target,
      metric: metric(object.metricName, object.selector),
      current: current(object.currentValue, object.averageValue),
    },
    external: external && {
      metric: metric(external.metricName, external.metricSelector),
      current: current(external.currentValue, external.currentAverageValue),
    },
  }) as unknown as MetricStatus
}
