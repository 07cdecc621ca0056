/**
 * Decides what becomes of a StatefulSet's pods next. In order, unless the set says `Parallel`: none is made before all
 * with lower ordinals are available, none taken away before all with higher ones have gone, and scaling goes before
 * updating.
 */
import type { Pod } from '../../../client/kinds.ts'
import { hasEnded } from '../../pods/phase.ts'
import { type ClaimChanges, claimChanges } from '../claims/changes.ts'
import { claimName, claimTemplates } from '../claims/claim.ts'
import { isStale } from '../claims/owners.ts'
import { podName, replicasOf, startOf } from '../identity.ts'
import { correctedMember, memberOf } from '../member.ts'
import {
  isDeleted,
  isHealthy,
  isRunningAndAvailable,
  type Members,
  membersOf,
  type SetRevision,
  type Situation,
} from './situation.ts'
import { outdatedPods } from './update.ts'

export type Step =
  | { readonly do: 'create'; readonly pod: Pod; readonly claims: ClaimChanges }
  | { readonly do: 'delete'; readonly pod: Pod }
  /**
   * `isWrong`: the pod itself is not what it should be. `isUpdate`: it counts as an update of the pod, which events
   * tell.
   */
  | {
      readonly do: 'correct'
      readonly pod: Pod
      readonly isWrong: boolean
      readonly claims: ClaimChanges
      readonly isUpdate: boolean
    }

export interface Plan {
  /**
   * Those of a phase may be done at once if the set is parallel; the phases, and all else, one after the other until
   * one fails.
   */
  readonly phases: readonly (readonly Step[])[]
  /** How many of the deletions are for the update. */
  readonly outdated: number
}

const nothing: Plan = { phases: [], outdated: 0 }

export const isParallel = ({ set }: Pick<Situation, 'set'>): boolean => set.spec?.podManagementPolicy === 'Parallel'

export function planOf(situation: Situation): Plan {
  if (situation.set.metadata.deletionTimestamp) return nothing
  const members = membersOf(situation.set, situation.pods)
  const phases: Step[][] = []
  for (const phase of [wantedSteps, condemnedClaims, condemnedSteps]) {
    const { steps, waits } = phase(members, situation)
    phases.push(steps)
    if (waits) return { phases, outdated: 0 }
  }
  const going = new Set(
    phases.flatMap((steps) => steps.flatMap((step) => (step.do === 'delete' ? step.pod.metadata.name : []))),
  )
  const outdated = outdatedPods(members, situation)
  const update = outdated.filter(({ metadata }) => !going.has(metadata.name))
  return { phases: [...phases, update.map((pod) => ({ do: 'delete', pod }))], outdated: outdated.length }
}

interface Phase {
  readonly steps: Step[]
  /** Nothing more is done now. */
  readonly waits: boolean
}

/** Makes the pods that are missing, replaces those that have ended, puts right those that are there. */
function wantedSteps({ wanted }: Members, situation: Situation): Phase {
  const { set } = situation
  const inOrder = !isParallel(situation)
  const steps: Step[] = []
  for (let ordinal = startOf(set); ordinal < startOf(set) + replicasOf(set); ordinal++) {
    const pod = wanted.get(ordinal)
    if (pod && hasEnded(pod)) {
      if (!isDeleted(pod)) steps.push({ do: 'delete', pod })
      if (inOrder) return { steps, waits: true }
    } else if (!pod) {
      steps.push(...creation(ordinal, situation))
      if (inOrder) return { steps, waits: true }
    } else {
      const isHindered = inOrder && !isHealthy(pod, situation)
      steps.push(...correction(pod, situation, isHindered))
      if (isHindered) return { steps, waits: true }
    }
  }
  return { steps, waits: false }
}

function creation(ordinal: number, situation: Situation): Step[] {
  const { set, claim } = situation
  const name = podName(set, ordinal)
  // Claims that go with the pod before have to be gone before the next one has claims of the same names.
  const stale = claimTemplates(set).some((template) =>
    isStale(claim(claimName(set, template, ordinal))?.metadata.ownerReferences ?? [], name, undefined),
  )
  if (stale) return []
  const pod = memberOf(set, revisionFor(ordinal, situation), ordinal)
  return [{ do: 'create', pod, claims: claimChanges(set, pod, claim) }]
}

/** A pod below the partition comes back as it was; others as they shall be. */
function revisionFor(ordinal: number, { set, current, update }: Situation): SetRevision {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return update
  const kept = rollingUpdate ? (rollingUpdate.partition ?? 0) : (set.status?.currentReplicas ?? 0)
  return ordinal < startOf(set) + kept ? current : update
}

/** `claimsOnly`: the pod itself has to wait. A pod that cannot start without its claims gets them at once. */
function correction(pod: Pod, { set, claim }: Situation, claimsOnly: boolean): Step[] {
  if (claimsOnly && pod.status?.phase !== 'Pending') return []
  const isWrong = !claimsOnly && correctedMember(set, pod) !== undefined
  const claims = claimChanges(set, pod, claim)
  const missing = isWrong || pod.status?.phase === 'Pending' ? claims.missing : []
  if (!isWrong && missing.length + claims.changed.length === 0) return []
  const isUpdate = isWrong || (!claimsOnly && claims.changed.length > 0)
  return [{ do: 'correct', pod, isWrong, claims: { ...claims, missing }, isUpdate }]
}

/** Claims of pods that go are theirs, or are kept, before they go. */
function condemnedClaims({ condemned }: Members, { set, claim }: Situation): Phase {
  const steps = condemned.flatMap((pod): Step[] => {
    const claims = claimChanges(set, pod, claim)
    return claims.changed.length
      ? [{ do: 'correct', pod, isWrong: false, claims: { ...claims, missing: [] }, isUpdate: false }]
      : []
  })
  return { steps, waits: false }
}

/**
 * In order, all that the set wants is available here: only pods that go can be unhealthy, and the lowest of those may
 * go first.
 */
function condemnedSteps({ condemned }: Members, situation: Situation): Phase {
  if (isParallel(situation))
    return { steps: condemned.filter((pod) => !isDeleted(pod)).map((pod) => ({ do: 'delete', pod })), waits: false }
  const [last] = condemned
  if (!last) return { steps: [], waits: false }
  const firstUnhealthy = condemned.findLast((pod) => !isHealthy(pod, situation))
  const mayGo = !isDeleted(last) && (isRunningAndAvailable(last, situation) || last === firstUnhealthy)
  return { steps: mayGo ? [{ do: 'delete', pod: last }] : [], waits: true }
}
