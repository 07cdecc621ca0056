/** The input of a StatefulSet's plan, and checks of its pods. */
import type { Pod, StatefulSet } from '../../../client/kinds.ts'
import type { Template } from '../../histories/revision.ts'
import { isAvailable, isReady } from '../../pods/phase.ts'
import type { FindClaim } from '../claims/changes.ts'
import { isDesired, ordinalOf } from '../identity.ts'

/** A revision of the set: its name and template. */
export interface SetRevision {
  readonly name: string
  readonly template: Template
}

export interface Situation {
  readonly set: StatefulSet
  /** The pods of the set, in any order. */
  readonly pods: readonly Pod[]
  /** The revision of the last completed update. */
  readonly current: SetRevision
  /** The newest revision. */
  readonly update: SetRevision
  readonly claim: FindClaim
  /** True if the feature MaxUnavailableStatefulSet is on (KEP-961). */
  readonly usesMaxUnavailable: boolean
  /** In ms since the epoch. */
  readonly now: number
}

export interface Members {
  /** Desired pods by ordinal. */
  readonly desired: ReadonlyMap<number, Pod>
  /** Surplus pods, highest ordinal first. */
  readonly condemned: readonly Pod[]
}

export function membersOf(set: StatefulSet, pods: readonly Pod[]): Members {
  const desired = new Map<number, Pod>()
  const condemned: { readonly ordinal: number; readonly pod: Pod }[] = []
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod)
    if (ordinal === undefined) continue
    if (isDesired(set, ordinal)) desired.set(ordinal, pod)
    else condemned.push({ ordinal, pod })
  }
  return { desired, condemned: condemned.sort((a, b) => b.ordinal - a.ordinal).map(({ pod }) => pod) }
}

export const isDeleted = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isReady(pod)

export const isRunningAndAvailable = (pod: Pod, { set, now }: Pick<Situation, 'set' | 'now'>): boolean =>
  isRunningAndReady(pod) && isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)

/** Returns true if a pod is available and not being deleted. */
export const isHealthy = (pod: Pod, situation: Pick<Situation, 'set' | 'now'>): boolean =>
  isRunningAndAvailable(pod, situation) && !isDeleted(pod)
