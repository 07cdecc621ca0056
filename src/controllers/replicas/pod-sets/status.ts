/** The status of a set of pods: how many there are, and how far they are. */
import type { Pod, ReplicaSet } from '../../../client/kinds.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import { isAvailable, isReady } from '../../pods/phase.ts'
import { messageOf } from '../../refusals.ts'
import type { PodSet } from './kind.ts'

export type PodSetStatus = NonNullable<ReplicaSet['status']>
type Condition = NonNullable<PodSetStatus['conditions']>[number]

const failureType = 'ReplicaFailure'

export interface Counted {
  /** Those that count. */
  readonly active: readonly Pod[]
  /** Deleted, still running; undefined where that is not counted. */
  readonly terminating: number | undefined
  /** Why pods could not be created or deleted. */
  readonly failure: unknown
  /** Milliseconds. */
  readonly now: number
}

export function statusOf(
  { metadata, spec, status }: PodSet,
  { active, terminating, failure, now }: Counted,
): PodSetStatus {
  const template = labelSelectorOf({ matchLabels: spec?.template?.metadata?.labels ?? {} })
  const minReadySeconds = spec?.minReadySeconds ?? 0
  const conditions = conditionsOf(status?.conditions ?? [], active.length - (spec?.replicas ?? 1), failure, now)
  return {
    replicas: active.length,
    ...count('fullyLabeledReplicas', active.filter((pod) => template.matches(pod.metadata.labels)).length),
    ...count('readyReplicas', active.filter(isReady).length),
    ...count('availableReplicas', active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    observedGeneration: metadata.generation,
    ...(conditions.length > 0 && { conditions }),
  }
}

/** Numbers that are 0 are left out, as upstream does; only that of terminating pods is a pointer in Go. */
const count = (field: string, value: number): Record<string, number> => (value === 0 ? {} : { [field]: value })

/**
 * A failure that is told stays as it is until there is none: messages that change would make a write of every attempt.
 */
function conditionsOf(before: readonly Condition[], surplus: number, failure: unknown, now: number): Condition[] {
  const others = before.filter(({ type }) => type !== failureType)
  if (failure === undefined) return others
  const told = before.find(({ type }) => type === failureType)
  const reason = surplus < 0 ? 'FailedCreate' : 'FailedDelete'
  const lastTransitionTime = `${new Date(now).toISOString().slice(0, 19)}Z`
  return [
    ...others,
    told ?? { type: failureType, status: 'True', reason, message: messageOf(failure), lastTransitionTime },
  ]
}

/** Whether a status tells what is told already. */
export const isTold = (set: PodSet, status: PodSetStatus): boolean => jsonEqual({ ...set.status }, { ...status })
