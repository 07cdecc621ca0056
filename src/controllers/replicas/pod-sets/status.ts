/** Computes the status of a ReplicaSet or ReplicationController. */
import type { Pod, ReplicaSet } from '../../../client/kinds.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import { messageOf } from '../../api-errors.ts'
import { isAvailable, isReady } from '../../pods/phase.ts'
import type { PodSet } from './kind.ts'

export type PodSetStatus = NonNullable<ReplicaSet['status']>
type Condition = NonNullable<PodSetStatus['conditions']>[number]

const failureType = 'ReplicaFailure'

export interface StatusInput {
  /** The active pods. */
  readonly active: readonly Pod[]
  /** Number of terminating pods; undefined if they are not counted. */
  readonly terminating: number | undefined
  /** The error of creating or deleting pods. */
  readonly failure: unknown
  /** In ms since the epoch. */
  readonly now: number
}

export function statusOf(
  { metadata, spec, status }: PodSet,
  { active, terminating, failure, now }: StatusInput,
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

/** Zero counts are omitted, as upstream; only terminatingReplicas is a pointer in Go. */
const count = (field: string, value: number): Record<string, number> => (value === 0 ? {} : { [field]: value })

/** An existing failure condition stays unchanged: a changing message would cause a write at every attempt. */
function conditionsOf(before: readonly Condition[], surplus: number, failure: unknown, now: number): Condition[] {
  const others = before.filter(({ type }) => type !== failureType)
  if (failure === undefined) return others
  const existing = before.find(({ type }) => type === failureType)
  const reason = surplus < 0 ? 'FailedCreate' : 'FailedDelete'
  const lastTransitionTime = `${new Date(now).toISOString().slice(0, 19)}Z`
  return [
    ...others,
    existing ?? { type: failureType, status: 'True', reason, message: messageOf(failure), lastTransitionTime },
  ]
}

/** Returns true if the set already has this status. */
export const isStatusCurrent = (set: PodSet, status: PodSetStatus): boolean =>
  jsonEqual({ ...set.status }, { ...status })
