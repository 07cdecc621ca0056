/**
 * Computes the desired replicas of an autoscaler: the proposal of its metrics, limited by history, rules and bounds.
 */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import type { HorizontalPodAutoscaler } from '../../client/kinds.ts'
import { parseLabelSelector, type Selector } from '../../machinery/selectors/label-selector.ts'
import { parseQuantity } from '../../machinery/values/quantity.ts'
import { messageOf } from '../api-errors.ts'
import { selectedPods } from '../pods/owners/selected-pods.ts'
import type { AutoscalerOptions, AutoscalerState } from './autoscaler-controller.ts'
import type { Conditions } from './autoscaler-status.ts'
import {
  type Metric,
  MetricFailure,
  type MetricStatus,
  type Proposal,
  propose,
  type ScaleContext,
} from './metrics/metric-proposal.ts'
import { MetricsClient } from './metrics/metrics-client.ts'
import { limit } from './replicas/limits.ts'
import type { Tolerances } from './replicas/pod-replicas.ts'
import type { KindMapper, Scale } from './scale-target.ts'
import { actionOf, type ScalingMetrics } from './scaling-metrics.ts'
import type { Selectors } from './selectors.ts'

export interface MetricsDecision {
  readonly replicas?: number
  readonly reason?: string
  readonly statuses?: readonly MetricStatus[]
  /** The error if no decision is possible. */
  readonly failure?: string
}

export interface ScalingInput {
  readonly scaler: HorizontalPodAutoscaler
  readonly scale: Scale
  readonly current: number
  readonly conditions: Conditions
  readonly memory: AutoscalerState
  readonly mapper: KindMapper
  readonly selectors: Selectors
  readonly options: AutoscalerOptions
  readonly metrics: ScalingMetrics
  readonly now: number
}

/** Decides the replicas, sets conditions and records events for errors. */
export async function desiredReplicas(measured: ScalingInput, context: ReconcileContext): Promise<MetricsDecision> {
  const {
    scaler,
    scale,
    current,
    conditions,
    memory,
    mapper,
    selectors,
    options,
    metrics: scalingMetrics,
    now,
  } = measured
  const { namespace = '', name } = scaler.metadata
  const { metrics = [], minReplicas: min = 1, maxReplicas: max = 0, behavior } = scaler.spec ?? {}
  const text = scale.status?.selector ?? ''
  const selector = parseSelector(text)
  const fail = (reason: string, event: string, why: string, message = why): MetricsDecision => {
    context.events.record(scaler, 'Warning', event, why)
    conditions.set('ScalingActive', false, { reason, message })
    return { failure: why }
  }
  if (text === '')
    return fail(
      'InvalidSelector',
      'SelectorRequired',
      'selector is required',
      "the HPA target's scale is missing a selector",
    )
  if (typeof selector === 'string') return fail('InvalidSelector', 'InvalidSelector', selector)
  const pods = [...selectedPods(context.caches, namespace, selector)]
  const autoscalers = selectors.autoscalersOf(`${namespace}/${name}`, selector, pods)
  if (autoscalers.length > 1) {
    return fail(
      'AmbiguousSelector',
      'AmbiguousSelector',
      `pods by selector ${text} are controlled by multiple HPAs: [${autoscalers.join(' ')}]`,
    )
  }

  const scaled = {
    namespace,
    pods,
    selector: text,
    specReplicas: current,
    statusReplicas: scale.status?.replicas ?? 0,
    tolerances: tolerancesOf(scaler, options.tolerance),
    readiness: { initializationMs: options.initializationMs, delayMs: options.readinessDelayMs, now },
  }
  const client = new MetricsClient(context.client, mapper, namespace)
  const results = await Promise.all(metrics.map((metric) => observedPropose(metric, scaled, client, scalingMetrics)))
  const failures = results.filter((result) => result instanceof MetricFailure)
  const proposals = results.filter((result): result is Proposal => !(result instanceof MetricFailure))
  const best = proposals.reduce<Proposal | undefined>(
    (most, proposal) => (most && most.replicas >= proposal.replicas ? most : proposal),
    undefined,
  )
  // The status list has an entry for each metric.
  const statuses = results.map(
    (result): MetricStatus => (result instanceof MetricFailure ? { type: '' } : result.status),
  )
  for (const { reason, why } of failures) context.events.record(scaler, 'Warning', reason, why)
  const [first] = failures
  // A missing metric might have prevented the scale-down.
  if (!best || (first && best.replicas < current)) {
    if (first)
      conditions.set('ScalingActive', false, {
        reason: first.reason,
        message: `the HPA was unable to compute the replica count: ${first.why}`,
      })
    const counts = `${failures.length} invalid out of ${metrics.length}`
    return { statuses, failure: `invalid metrics (${counts}), first error is: ${first?.message}` }
  }
  const message = `the HPA was able to successfully calculate a replica count from ${best.name}`
  conditions.set('ScalingActive', true, { reason: 'ValidMetricFound', message })

  const { replicas, able, limited, history } = limit(best.replicas, memory.history, {
    current,
    min,
    max,
    behavior,
    downscaleMs: options.downscaleMs,
    now,
  })
  memory.history = history
  conditions.set('AbleToScale', true, able)
  conditions.set('ScalingLimited', limited.isLimited, limited)
  return {
    replicas,
    statuses,
    reason:
      best.replicas > current ? `${best.name} above target` : best.replicas < current ? 'All metrics below target' : '',
  }
}

function parseSelector(text: string): Selector | string {
  try {
    return parseLabelSelector(text)
  } catch (error) {
    return `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`
  }
}

async function observedPropose(
  metric: Metric,
  scaled: ScaleContext,
  client: MetricsClient,
  scalingMetrics: ScalingMetrics,
): Promise<Proposal | MetricFailure> {
  const began = performance.now()
  const result = await propose(metric, scaled, client).catch(failureOf)
  const action = result instanceof MetricFailure ? 'none' : actionOf(scaled.specReplicas, result.replicas)
  scalingMetrics.observeComputation(
    action,
    result instanceof MetricFailure ? 'internal' : 'none',
    metric.type,
    (performance.now() - began) / 1000,
  )
  return result
}

function failureOf(error: unknown): MetricFailure {
  if (error instanceof MetricFailure) return error
  throw error
}

/** The tolerances of its behavior, or the default. */
function tolerancesOf({ spec }: HorizontalPodAutoscaler, defaultTolerance: number): Tolerances {
  const own = (tolerance: string | undefined): number =>
    tolerance === undefined ? defaultTolerance : Number(parseQuantity(`${tolerance}`).nano) / 1e9
  return { down: own(spec?.behavior?.scaleDown?.tolerance), up: own(spec?.behavior?.scaleUp?.tolerance) }
}
