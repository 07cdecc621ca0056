/** The reason why an attempt to schedule a pod failed, and the events that the pod waits for. */
import { reasonOf } from '../../lib/explained-error.ts'
import { isRejected, type Rejection } from '../framework/status.ts'
import { NoNodesError } from './decide.ts'
import { fitMessage } from './fit-error.ts'
import type { PodCycle } from './pod-cycle.ts'

export interface Failure {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  /** The plug-ins whose events wake the pod. */
  readonly rejectedBy?: ReadonlySet<string>
  /** The plug-ins whose events wake it without back-off. */
  readonly pendingFor?: ReadonlySet<string>
  /** As in PostFilterResult. */
  readonly nominatedNode?: string
}

/** Converts an exception of the decision. */
export function failureOf(error: unknown, { profile }: PodCycle): Failure {
  if (!(error instanceof NoNodesError)) return { reason: 'SchedulerError', message: reasonOf(error), nominatedNode: '' }
  // A new node is an event for all filters.
  return {
    reason: 'Unschedulable',
    message: error.message,
    rejectedBy: new Set(profile.steps.filter.map(({ name }) => name)),
    nominatedNode: '',
  }
}

/** A rejection after the node was chosen. */
export function failureOnNode(rejection: Rejection, node: string): Failure {
  const { plugin, status } = rejection
  if (!isRejected(status)) return { reason: 'SchedulerError', message: status.reasons.join(', '), nominatedNode: '' }
  const isPending = status.code === 'Pending'
  return {
    reason: 'Unschedulable',
    message: fitMessage({ nodeCount: 1, rejections: new Map([[node, rejection]]) }),
    rejectedBy: new Set(isPending ? [] : [plugin]),
    pendingFor: new Set(isPending ? [plugin] : []),
    nominatedNode: '',
  }
}
