/** Decides the replicas of an autoscaler's target from its bounds and the evaluation of its metrics. */
import type { HorizontalPodAutoscaler } from '../../client/kinds.ts'
import type { Evaluation } from './metrics/evaluate-metrics.ts'
import type { MetricStatus, Proposal } from './metrics/metric-proposal.ts'

export type ScalingDecision =
  | { readonly step: 'disable' }
  | { readonly step: 'fail'; readonly message: string; readonly statuses?: readonly MetricStatus[] }
  | {
      readonly step: 'scale'
      readonly replicas: number
      /** The reason in the event. */
      readonly reason: string
      readonly statuses?: readonly MetricStatus[]
    }

/**
 * Scales a target that is out of bounds back into them; undefined if the metrics decide. Scaling is disabled for a
 * target with zero replicas.
 */
export function decideByBounds({ spec }: HorizontalPodAutoscaler, current: number): ScalingDecision | undefined {
  const { minReplicas = 1, maxReplicas = 0 } = spec ?? {}
  if (current === 0 && minReplicas !== 0) return { step: 'disable' }
  if (current > maxReplicas)
    return { step: 'scale', replicas: maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' }
  if (current < minReplicas)
    return { step: 'scale', replicas: minReplicas, reason: 'Current number of replicas below Spec.MinReplicas' }
  return undefined
}

/** The proposal to apply; undefined if there is none, or if a failed metric might have prevented the scale-down. */
export const conclusiveProposal = ({ best, failures }: Evaluation, current: number): Proposal | undefined =>
  best && (failures.length === 0 || best.replicas >= current) ? best : undefined

export function invalidMetrics({ failures, statuses }: Evaluation): ScalingDecision {
  const counts = `${failures.length} invalid out of ${statuses.length}`
  return { step: 'fail', statuses, message: `invalid metrics (${counts}), first error is: ${failures[0]?.message}` }
}

/** The reason of a change to the proposed replicas. */
export function reasonOf({ name, replicas }: Proposal, current: number): string {
  if (replicas > current) return `${name} above target`
  return replicas < current ? 'All metrics below target' : ''
}
