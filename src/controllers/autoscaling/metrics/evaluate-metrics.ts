/** Evaluates all metrics of an autoscaler: the highest proposal decides. */
import { actionOf, type ScalingMetrics } from '../scaling-metrics.ts'
import {
  type Metric,
  MetricFailure,
  type MetricStatus,
  type Proposal,
  propose,
  type ScaleContext,
} from './metric-proposal.ts'
import type { MetricsClient } from './metrics-client.ts'

export interface Evaluation {
  /** The proposal with the most replicas; undefined if no metric could be evaluated. */
  readonly best: Proposal | undefined
  readonly failures: readonly MetricFailure[]
  /** One entry for each metric; that of a failed metric is empty. */
  readonly statuses: readonly MetricStatus[]
}

export async function evaluateMetrics(
  metrics: readonly Metric[],
  scaled: ScaleContext,
  client: MetricsClient,
  scalingMetrics: ScalingMetrics,
): Promise<Evaluation> {
  const results = await Promise.all(metrics.map((metric) => observedPropose(metric, scaled, client, scalingMetrics)))
  const proposals = results.filter((result): result is Proposal => !(result instanceof MetricFailure))
  return {
    best: proposals.reduce<Proposal | undefined>(
      (best, proposal) => (best && best.replicas >= proposal.replicas ? best : proposal),
      undefined,
    ),
    failures: results.filter((result) => result instanceof MetricFailure),
    statuses: results.map((result) => (result instanceof MetricFailure ? { type: '' } : result.status)),
  }
}

async function observedPropose(
  metric: Metric,
  scaled: ScaleContext,
  client: MetricsClient,
  scalingMetrics: ScalingMetrics,
): Promise<Proposal | MetricFailure> {
  const startedAt = performance.now()
  const result = await propose(metric, scaled, client).catch(metricFailureOf)
  const isFailure = result instanceof MetricFailure
  scalingMetrics.observeComputation(
    isFailure ? 'none' : actionOf(scaled.specReplicas, result.replicas),
    isFailure ? 'internal' : 'none',
    metric.type,
    (performance.now() - startedAt) / 1000,
  )
  return result
}

function metricFailureOf(error: unknown): MetricFailure {
  if (error instanceof MetricFailure) return error
  throw error
}
