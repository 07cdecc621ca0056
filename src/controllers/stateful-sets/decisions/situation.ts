/** What is there when it is decided what becomes of a StatefulSet, and what its pods' states mean to it. */
import type { Pod, StatefulSet } from '../../../client/kinds.ts'
import type { Template } from '../../histories/revision.ts'
import { isAvailable, isReady } from '../../pods/phase.ts'
import type { FindClaim } from '../claims/changes.ts'
import { isWanted, ordinalOf } from '../identity.ts'

/** A revision of the set: its name, and the template as it was. */
export interface SetRevision {
  readonly name: string
  readonly template: Template
}

export interface Situation {
  readonly set: StatefulSet
  /** Those of the set, in any order. */
  readonly pods: readonly Pod[]
  /** What all pods were when the last update was through. */
  readonly current: SetRevision
  /** What they shall become. */
  readonly update: SetRevision
  readonly claim: FindClaim
  /** The feature MaxUnavailableStatefulSet is on (KEP-961). */
  readonly obeysMaxUnavailable: boolean
  /** Milliseconds. */
  readonly now: number
}

export interface Members {
  /** By ordinal: those that the set wants. */
  readonly wanted: ReadonlyMap<number, Pod>
  /** Those that it does not, the highest ordinal first. */
  readonly condemned: readonly Pod[]
}

export function membersOf(set: StatefulSet, pods: readonly Pod[]): Members {
  const wanted = new Map<number, Pod>()
  const condemned: { readonly ordinal: number; readonly pod: Pod }[] = []
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod)
    if (ordinal === undefined) continue
    if (isWanted(set, ordinal)) wanted.set(ordinal, pod)
    else condemned.push({ ordinal, pod })
  }
  return { wanted, condemned: condemned.sort((a, b) => b.ordinal - a.ordinal).map(({ pod }) => pod) }
}

export const isDeleted = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isReady(pod)

export const isRunningAndAvailable = (pod: Pod, { set, now }: Pick<Situation, 'set' | 'now'>): boolean =>
  isRunningAndReady(pod) && isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)

/** Whether it counts on a pod: one that is deleted is as good as gone. */
export const isHealthy = (pod: Pod, situation: Pick<Situation, 'set' | 'now'>): boolean =>
  isRunningAndAvailable(pod, situation) && !isDeleted(pod)
