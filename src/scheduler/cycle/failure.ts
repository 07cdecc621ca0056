/** Why an attempt to schedule a pod failed, and what the pod waits for. */
import { reasonOf } from '../../lib/explained-error.ts'
import { isRejected, type Refusal } from '../framework/status.ts'
import { NoNodesError } from './decide.ts'
import { fitMessage } from './fit-error.ts'
import type { PodCycle } from './pod-cycle.ts'

export interface Failure {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  /** The plug-ins whose events wake the pod. */
  readonly refusedBy?: ReadonlySet<string>
  /** Those whose events wake it without a pause. */
  readonly pendingFor?: ReadonlySet<string>
  /** As in PostFilterResult. */
  readonly nominatedNode?: string
}

/** What is thrown while deciding. */
export function failureOf(error: unknown, { profile }: PodCycle): Failure {
  if (!(error instanceof NoNodesError)) return { reason: 'SchedulerError', message: reasonOf(error), nominatedNode: '' }
  // A node that comes is what all filters wait for.
  return {
    reason: 'Unschedulable',
    message: error.message,
    refusedBy: new Set(profile.steps.filter.map(({ name }) => name)),
    nominatedNode: '',
  }
}

/** A refusal of the node that had been chosen. */
export function refusedOn(refusal: Refusal, node: string): Failure {
  const { plugin, status } = refusal
  if (!isRejected(status)) return { reason: 'SchedulerError', message: status.reasons.join(', '), nominatedNode: '' }
  const isPending = status.code === 'Pending'
  return {
    reason: 'Unschedulable',
    message: fitMessage({ nodeCount: 1, refusals: new Map([[node, refusal]]) }),
    refusedBy: new Set(isPending ? [] : [plugin]),
    pendingFor: new Set(isPending ? [plugin] : []),
    nominatedNode: '',
  }
}
