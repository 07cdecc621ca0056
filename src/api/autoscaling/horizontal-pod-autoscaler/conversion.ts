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

/** A metric, or the status of one, in the shape of v1. */
interface MetricV1 {
  readonly type: string
  readonly resource?: Record<string, unknown>
  readonly containerResource?: Record<string, unknown>
  readonly pods?: Record<string, unknown>
  readonly object?: Record<string, unknown>
  readonly external?: Record<string, unknown>
}

/** Drops members that are undefined or null. */
const withoutNulls = <T extends object>(object: T): T =>
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
  const converted: Record<string, string> = { ...metadata.annotations }
  // Annotations that a client wrote itself are not part of the conversion.
  for (const key of Object.values(annotations)) delete converted[key]
  if (others.length > 0) converted[annotations.metrics] = JSON.stringify(others.map(metricToV1))
  if (statuses.length > 0) converted[annotations.statuses] = JSON.stringify(statuses.map(statusToV1))
  if (status?.conditions?.length)
    converted[annotations.conditions] = JSON.stringify(status.conditions.map(orderedCondition))
  if (spec?.behavior) converted[annotations.behavior] = JSON.stringify(goBehavior(spec.behavior))
  return {
    ...rest,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(metadata, converted),
    spec:
      spec &&
      withoutNulls({
        scaleTargetRef: spec.scaleTargetRef,
        minReplicas: spec.minReplicas,
        maxReplicas: spec.maxReplicas,
        targetCPUUtilizationPercentage: cpu?.resource?.target.averageUtilization,
      }),
    status: withoutNulls({
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
  const remaining = { ...metadata.annotations }
  const take = <T>(key: string): T | undefined => {
    const text = remaining[key]
    delete remaining[key]
    if (text === undefined) return undefined
    try {
      return JSON.parse(text) as T
    } catch {
      return undefined
    }
  }
  const metrics = (take<MetricV1[]>(annotations.metrics) ?? []).map(metricFromV1)
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
  const statuses = take<MetricV1[]>(annotations.statuses)?.map(statusFromV1) ?? usedOfCpu
  const conditions = take<NonNullable<NonNullable<Autoscaler['status']>['conditions']>>(annotations.conditions)
  const full = withoutNulls({
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
    metadata: withAnnotations(metadata, remaining),
    spec:
      spec &&
      withoutNulls({
        scaleTargetRef: spec.scaleTargetRef,
        minReplicas: spec.minReplicas,
        maxReplicas: spec.maxReplicas,
        metrics,
        behavior: behavior && (renameFields(behavior, lowerFirst) as Behavior),
      }),
    status: full,
  }
}

const withAnnotations = (
  { annotations: _, ...metadata }: Autoscaler['metadata'],
  values: Readonly<Record<string, string>>,
): Autoscaler['metadata'] => (Object.keys(values).length > 0 ? { ...metadata, annotations: values } : metadata)

type Condition = NonNullable<NonNullable<Autoscaler['status']>['conditions']>[number]

/** Members have Go's order. */
const orderedCondition = ({ type, status, lastTransitionTime, reason, message }: Condition): object => ({
  type,
  status,
  lastTransitionTime: lastTransitionTime ?? null,
  ...withoutNulls({ reason: reason || undefined, message: message || undefined }),
})

/** All members have Go's names and order; absent ones are null. */
const goBehavior = ({ scaleUp, scaleDown }: Behavior): object => ({
  ScaleUp: goRules(scaleUp),
  ScaleDown: goRules(scaleDown),
})

const goRules = (rules: Behavior['scaleUp']): object | null =>
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

const lowerFirst = (key: string): string => key[0]?.toLowerCase() + key.slice(1)

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

function metricToV1({ type, resource, containerResource, pods, object, external }: Metric): MetricV1 {
  return withoutNulls({
    type,
    resource:
      resource &&
      withoutNulls({
        name: resource.name,
        targetAverageUtilization: resource.target.averageUtilization,
        targetAverageValue: resource.target.averageValue,
      }),
    containerResource:
      containerResource &&
      withoutNulls({
        name: containerResource.name,
        targetAverageUtilization: containerResource.target.averageUtilization,
        targetAverageValue: containerResource.target.averageValue,
        container: containerResource.container,
      }),
    pods:
      pods &&
      withoutNulls({
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue,
        selector: pods.metric.selector,
      }),
    object:
      object &&
      withoutNulls({
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? (object.target.averageValue === undefined ? undefined : '0'),
        selector: object.metric.selector,
        averageValue: object.target.averageValue,
      }),
    external:
      external &&
      withoutNulls({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  })
}

const metric = (name: unknown, selector: unknown): object => withoutNulls({ name, selector })
const current = (value: unknown, averageValue: unknown, averageUtilization?: unknown): object =>
  withoutNulls({ value, averageValue, averageUtilization })

/** Builds the target of v2 from the flat fields of v1. */
function target(value: unknown, averageValue: unknown, averageUtilization?: unknown): object {
  const type = averageUtilization !== undefined ? 'Utilization' : averageValue !== undefined ? 'AverageValue' : 'Value'
  return withoutNulls({ type, value: averageValue === undefined ? value : undefined, averageValue, averageUtilization })
}

function metricFromV1({ type, resource, containerResource, pods, object, external }: MetricV1): Metric {
  return withoutNulls({
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

function statusToV1({ type, resource, containerResource, pods, object, external }: MetricStatus): MetricV1 {
  const resourceOf = ({ name, current }: NonNullable<MetricStatus['resource']>): Record<string, unknown> =>
    withoutNulls({
      name,
      currentAverageUtilization: current.averageUtilization,
      currentAverageValue: current.averageValue ?? '0',
    })
  return withoutNulls({
    type,
    resource: resource && resourceOf(resource),
    containerResource: containerResource && {
      ...resourceOf(containerResource),
      container: containerResource.container,
    },
    pods:
      pods &&
      withoutNulls({
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? '0',
        selector: pods.metric.selector,
      }),
    object:
      object &&
      withoutNulls({
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? '0',
        selector: object.metric.selector,
        averageValue: object.current.averageValue,
      }),
    external:
      external &&
      withoutNulls({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? '0',
        currentAverageValue: external.current.averageValue,
      }),
  })
}

function statusFromV1({ type, resource, containerResource, pods, object, external }: MetricV1): MetricStatus {
  return withoutNulls({
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
