/** Columns of `kubectl get hpa`; `TARGETS` shows current and target values. */
import { age, column, name } from '../../resource.ts'
import type { Autoscaler, Metric, MetricStatus } from './rules.ts'

type Target = { value?: string; averageValue?: string; averageUtilization?: number }
type Current = { value?: string; averageValue?: string; averageUtilization?: number }

const unknown = '<unknown>'
const maxShown = 2

/** Go's output for a nil quantity. */
const nil = '<nil>'
const average = (current: Current | undefined): string => (current ? (current.averageValue ?? nil) : unknown)

/** Formats a metric with a value or a value per pod. */
const value = (target: Target, current: Current | undefined): string =>
  target.averageValue !== undefined
    ? `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`
    : `${current ? (current.value ?? nil) : unknown}/${target.value ?? nil}`

/** Formats a resource metric: a percentage of the requests, or an amount per pod. */
function resourceText(resource: string, target: Target, current: Current | undefined): string {
  if (target.averageValue !== undefined) return `${resource}: ${average(current)}/${target.averageValue}`
  const now = current?.averageUtilization === undefined ? unknown : `${current.averageUtilization}%`
  return `${resource}: ${now}/${target.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`}`
}

function metricText(metric: Metric, status: MetricStatus | undefined): string {
  const { external, pods, object, resource, containerResource } = metric
  if (external) return value(external.target, status?.external?.current)
  if (pods) return `${average(status?.pods?.current)}/${pods.target.averageValue ?? ''}`
  if (object) return value(object.target, status?.object?.current)
  if (resource) return resourceText(resource.name, resource.target, status?.resource?.current)
  if (containerResource)
    return resourceText(containerResource.name, containerResource.target, status?.containerResource?.current)
  return '<unknown type>'
}

/** Returns for example `cpu: 41%/75%, 2500m/100 + 2 more...`. */
export function targets({ spec, status }: Autoscaler): string {
  const metrics = spec?.metrics ?? []
  if (metrics.length === 0) return '<none>'
  const texts = metrics.slice(0, maxShown).map((metric, i) => metricText(metric, status?.currentMetrics?.[i]))
  return metrics.length > maxShown ? `${texts.join(', ')} + ${metrics.length - maxShown} more...` : texts.join(', ')
}

export const autoscalerColumns = [
  name,
  column<Autoscaler>('Reference', ({ spec }) => `${spec?.scaleTargetRef.kind}/${spec?.scaleTargetRef.name}`, {
    description: 'The scaled object.',
  }),
  column<Autoscaler>('Targets', targets, { description: 'Current and target values of its metrics.' }),
  column<Autoscaler>(
    'MinPods',
    ({ spec }) => (spec?.minReplicas === undefined ? '<unset>' : String(spec.minReplicas)),
    {
      description: 'The minimum number of pods.',
    },
  ),
  column<Autoscaler>('MaxPods', ({ spec }) => spec?.maxReplicas ?? 0, {
    description: 'The maximum number of pods.',
  }),
  column<Autoscaler>('Replicas', ({ status }) => status?.currentReplicas ?? 0, {
    description: 'The current number of pods.',
  }),
  age,
]
