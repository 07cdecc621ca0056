/** Computes the replicas that one metric of an autoscaler proposes, and its status. */
import type { HorizontalPodAutoscaler, Pod } from '../../../client/kinds.ts'
import { type LabelSelector, labelSelectorOf, selectorText } from '../../../machinery/selectors/label-selector.ts'
import { canonicalQuantity, milliValue } from '../../../machinery/values/quantity.ts'
import { messageOf } from '../../api-errors.ts'
import {
  averageMeasure,
  groupPods,
  type Measure,
  podReplicas,
  podRequests,
  type Readiness,
  sharedReplicas,
  type Tolerances,
  utilizationMeasure,
  valueReplicas,
} from '../replicas/pod-replicas.ts'
import type { MetricsClient, PodMetrics } from './metrics-client.ts'
import { selectorNotation } from './selector-notation.ts'

export type Metric = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['metrics']>[number]
export type MetricStatus = NonNullable<NonNullable<HorizontalPodAutoscaler['status']>['currentMetrics']>[number]
type Target = NonNullable<Metric['resource']>['target']
type Current = NonNullable<MetricStatus['resource']>['current']

export interface Proposal {
  readonly replicas: number
  /** The metric's name in conditions and events. */
  readonly name: string
  readonly status: MetricStatus
}

/** A metric that could not be evaluated. */
export class MetricFailure extends Error {
  /** The reason of the condition and event. */
  readonly reason: string
  /** The message of the condition. */
  readonly why: string

  constructor(reason: string, why: string, message: string) {
    super(message)
    this.name = 'MetricFailure'
    this.reason = reason
    this.why = why
  }
}

/** The scaled workload and the parameters. */
export interface ScaleContext {
  readonly namespace: string
  readonly pods: readonly Pod[]
  /** As a string. */
  readonly selector: string
  readonly specReplicas: number
  readonly statusReplicas: number
  readonly tolerances: Tolerances
  readonly readiness: Readiness
}

/** Evaluates a metric. Rejects with a MetricFailure. */
export async function propose(metric: Metric, scaled: ScaleContext, metrics: MetricsClient): Promise<Proposal> {
  const { resource, containerResource, pods, object, external } = metric
  if (metric.type === 'Resource' && resource) {
    const given = resourceUse(resource.name, resource.target, scaled, metrics)
    const { replicas, current, name } = await given.catch(
      failure('FailedGetResourceMetric', `failed to get ${resource.name} resource metric value`),
    )
    return { replicas, name, status: { type: metric.type, resource: { name: resource.name, current } } }
  }
  if (metric.type === 'ContainerResource' && containerResource) {
    const { name: of, container, target } = containerResource
    const given = resourceUse(of, target, scaled, metrics, container)
    const { replicas, current, name } = await given.catch(
      failure('FailedGetContainerResourceMetric', `failed to get ${container} container metric value`),
    )
    return { replicas, name, status: { type: metric.type, containerResource: { name: of, container, current } } }
  }
  if (metric.type === 'Pods' && pods) {
    const given = podsMetric(pods, scaled, metrics)
    const { replicas, current } = await given.catch(failure('FailedGetPodsMetric', 'failed to get pods metric value'))
    return {
      replicas,
      name: `pods metric ${pods.metric.name}`,
      status: { type: metric.type, pods: { metric: identifier(pods.metric), current } },
    }
  }
  if (metric.type === 'Object' && object) {
    const { describedObject, metric: of } = object
    const given = objectMetric(object, scaled, metrics)
    const isShared = object.target.type === 'AverageValue'
    const outside = `failed to get object metric value${isShared ? `: failed to get ${of.name} object metric` : ''}`
    const { replicas, current } = await given.catch(failure('FailedGetObjectMetric', outside))
    const name = isShared ? externalName(of) : `${describedObject.kind} metric ${of.name}`
    return {
      replicas,
      name,
      status: { type: metric.type, object: { describedObject, metric: identifier(of), current } },
    }
  }
  if (metric.type === 'External' && external) {
    const { metric: of, target } = external
    const given = externalMetric(external, scaled, metrics)
    const outside =
      `failed to get ${of.name} external metric value: ` +
      `${target.averageValue ? `failed to get ${of.name} external metric` : `failed to get external metric ${of.name}`}`
    const { replicas, current } = await given.catch(failure('FailedGetExternalMetric', outside))
    return {
      replicas,
      name: externalName(of),
      status: { type: metric.type, external: { metric: identifier(of), current } },
    }
  }
  const message = `unknown metric source type ${JSON.stringify(metric.type)}`
  throw new MetricFailure('InvalidMetricSourceType', message, message)
}

const failure =
  (reason: string, outside: string) =>
  (error: unknown): never => {
    throw new MetricFailure(reason, messageOf(error), `${outside}: ${messageOf(error)}`)
  }

interface Identifier {
  readonly name: string
  readonly selector?: LabelSelector
}

const identifier = ({ name, selector }: Identifier): { name: string; selector?: LabelSelector } => ({
  name,
  ...(selector && { selector }),
})
const externalName = ({ name, selector }: Identifier): string =>
  `external metric ${name}(${selectorNotation(selector)})`

const milli = (quantity: string): number => Number(milliValue(quantity))

/** Prefixes an error with its context. */
const withContext =
  (context: string) =>
  (error: unknown): never => {
    throw new Error(`${context}: ${messageOf(error)}`)
  }

interface Use {
  readonly replicas: number
  readonly current: Current
}

async function resourceUse(
  resource: string,
  { averageValue, averageUtilization }: Target,
  scaled: ScaleContext,
  client: MetricsClient,
  container?: string,
): Promise<Use & { readonly name: string }> {
  if (averageValue === undefined && averageUtilization === undefined) {
    throw new Error(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target ' +
        'was set',
    )
  }
  const by = averageValue === undefined ? 'utilization' : 'usage'
  const measured = async (): Promise<Use> => {
    const metrics = await client
      .resource(resource, scaled.selector, container)
      .catch(withContext(`unable to get metrics for resource ${resource}`))
    const measure = (): Measure =>
      averageValue === undefined
        ? utilizationMeasure(podRequests(scaled.pods, resource, container), averageUtilization ?? 0)
        : averageMeasure(milli(averageValue))
    const { replicas, usage } = ofPods(metrics, resource, scaled, measure)
    const { utilization, average } = usage
    return {
      replicas,
      current: {
        ...(utilization !== undefined && { averageUtilization: utilization }),
        averageValue: quantityOf(average, resource),
      },
    }
  }
  const use = await measured().catch(withContext(`failed to get ${resource} ${by}`))
  const percentage = `${container ? 'container resource' : 'resource'} utilization (percentage of request)`
  return { ...use, name: `${resource} ${averageValue === undefined ? percentage : 'resource'}` }
}

/** `measure` may throw for missing requests, so it is called only if pods exist. */
function ofPods(
  metrics: PodMetrics,
  resource: string,
  { pods, specReplicas, tolerances, readiness }: ScaleContext,
  measure: () => Measure,
) {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count')
  return podReplicas(specReplicas, metrics, groupPods(pods, metrics, resource, readiness), measure(), tolerances)
}

async function podsMetric(
  { metric, target }: NonNullable<Metric['pods']>,
  scaled: ScaleContext,
  client: MetricsClient,
): Promise<Use> {
  const { selector } = scaled
  const metrics = await client
    .pods(metric.name, selector, metricSelector(metric))
    .catch(withContext(`unable to get metric ${metric.name}`))
  const { replicas, usage } = ofPods(metrics, '', scaled, () => averageMeasure(milli(target.averageValue ?? '0')))
  return { replicas, current: { averageValue: quantityOf(usage.average) } }
}

async function objectMetric(
  { metric, target, describedObject }: NonNullable<Metric['object']>,
  scaled: ScaleContext,
  client: MetricsClient,
): Promise<Use> {
  const { specReplicas, statusReplicas, pods, tolerances, namespace } = scaled
  const fetched = (): Promise<number> =>
    client
      .object(metric.name, describedObject, metricSelector(metric))
      .catch(
        withContext(
          `unable to get metric ${metric.name} on ${describedObject.kind} ${namespace}/${describedObject.name}`,
        ),
      )
  if (target.type === 'Value' && target.value !== undefined) {
    const value = await fetched()
    return {
      replicas: valueReplicas(specReplicas, value / milli(target.value), pods, tolerances),
      current: { value: quantityOf(value) },
    }
  }
  if (target.type === 'AverageValue' && target.averageValue !== undefined)
    return averageUse(statusReplicas, await fetched(), target.averageValue, tolerances)
  throw new Error('invalid object metric source: neither a value target nor an average value target was set')
}

async function externalMetric(
  { metric, target }: NonNullable<Metric['external']>,
  scaled: ScaleContext,
  client: MetricsClient,
): Promise<Use> {
  const { specReplicas, statusReplicas, pods, tolerances, namespace } = scaled
  const fetched = async (): Promise<number> => {
    const values = await client
      .external(metric.name, metricSelector(metric))
      .catch(
        withContext(`unable to get external metric ${namespace}/${metric.name}/${selectorNotation(metric.selector)}`),
      )
    return values.reduce((sum, value) => sum + value, 0)
  }
  if (target.averageValue !== undefined)
    return averageUse(statusReplicas, await fetched(), target.averageValue, tolerances)
  if (target.value === undefined)
    throw new Error('invalid external metric source: neither a value target nor an average value target was set')
  const value = await fetched()
  return {
    replicas: valueReplicas(specReplicas, value / milli(target.value), pods, tolerances),
    current: { value: quantityOf(value) },
  }
}

function averageUse(statusReplicas: number, value: number, target: string, tolerances: Tolerances): Use {
  const { replicas, average } = sharedReplicas(statusReplicas, value, milli(target), tolerances)
  return { replicas, current: { averageValue: quantityOf(average) } }
}

const metricSelector = ({ selector }: Identifier): string => (selector ? selectorText(labelSelectorOf(selector)) : '')

/** Formats thousandths as a quantity; memory in powers of two, as measured. */
function quantityOf(thousandths: number, resource = ''): string {
  const kibibyte = 1024 * 1000
  if (resource === 'memory' && thousandths !== 0 && thousandths % kibibyte === 0)
    return canonicalQuantity(`${thousandths / kibibyte}Ki`)
  return resource === 'memory' && thousandths % 1000 === 0
    ? `${thousandths / 1000}`
    : canonicalQuantity(`${thousandths}m`)
}
