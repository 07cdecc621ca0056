/**
 * Plans the next steps for a StatefulSet's pods. Unless the set is `Parallel`, a pod is created after all lower
 * ordinals are available, and deleted after all higher ones are deleted. Scaling precedes updating.
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
  /** `needsRepair`: the pod itself must change. `isUpdate`: an event is recorded. */
  | {
      readonly do: 'correct'
      readonly pod: Pod
      readonly needsRepair: boolean
      readonly claims: ClaimChanges
      readonly isUpdate: boolean
    }

export interface Plan {
  /** Steps of a phase may run concurrently if the set is Parallel; phases run in order until an error. */
  readonly phases: readonly (readonly Step[])[]
  /** Number of deletions that belong to the update. */
  readonly outdated: number
}

const nothing: Plan = { phases: [], outdated: 0 }

export const isParallel = ({ set }: Pick<Situation, 'set'>): boolean => set.spec?.podManagementPolicy === 'Parallel'

export function planOf(situation: Situation): Plan {
  if (situation.set.metadata.deletionTimestamp) return nothing
  const members = membersOf(situation.set, situation.pods)
  const phases: Step[][] = []
  for (const phase of [desiredSteps, condemnedClaims, condemnedSteps]) {
    const { steps, waits } = phase(members, situation)
    phases.push(steps)
    if (waits) return { phases, outdated: 0 }
  }
  const deleted = new Set(
    phases.flatMap((steps) => steps.flatMap((step) => (step.do === 'delete' ? step.pod.metadata.name : []))),
  )
  const outdated = outdatedPods(members, situation)
  const update = outdated.filter(({ metadata }) => !deleted.has(metadata.name))
  return { phases: [...phases, update.map((pod) => ({ do: 'delete', pod }))], outdated: outdated.length }
}

interface Phase {
  readonly steps: Step[]
  /** True if no further phase runs now. */
  readonly waits: boolean
}

/** Creates missing pods, deletes ended ones, repairs the others. */
function desiredSteps({ desired }: Members, situation: Situation): Phase {
  const { set } = situation
  const inOrder = !isParallel(situation)
  const steps: Step[] = []
  for (let ordinal = startOf(set); ordinal < startOf(set) + replicasOf(set); ordinal++) {
    const pod = desired.get(ordinal)
    if (pod && hasEnded(pod)) {
      if (!isDeleted(pod)) steps.push({ do: 'delete', pod })
      if (inOrder) return { steps, waits: true }
    } else if (!pod) {
      steps.push(...creation(ordinal, situation))
      if (inOrder) return { steps, waits: true }
    } else {
      const isBlocked = inOrder && !isHealthy(pod, situation)
      steps.push(...correction(pod, situation, isBlocked))
      if (isBlocked) return { steps, waits: true }
    }
  }
  return { steps, waits: false }
}

function creation(ordinal: number, situation: Situation): Step[] {
  const { set, claim } = situation
  const name = podName(set, ordinal)
  // Claims of the previous pod must be deleted before the next pod gets claims of the same names.
  const stale = claimTemplates(set).some((template) =>
    isStale(claim(claimName(set, template, ordinal))?.metadata.ownerReferences ?? [], name, undefined),
  )
  if (stale) return []
  const pod = memberOf(set, revisionFor(ordinal, situation), ordinal)
  return [{ do: 'create', pod, claims: claimChanges(set, pod, claim) }]
}

/** A pod below the partition is recreated at the current revision; others at the update revision. */
function revisionFor(ordinal: number, { set, current, update }: Situation): SetRevision {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return update
  const currentCount = rollingUpdate ? (rollingUpdate.partition ?? 0) : (set.status?.currentReplicas ?? 0)
  return ordinal < startOf(set) + currentCount ? current : update
}

/** `claimsOnly`: the pod itself must wait. A pending pod gets its missing claims immediately. */
function correction(pod: Pod, { set, claim }: Situation, claimsOnly: boolean): Step[] {
  if (claimsOnly && pod.status?.phase !== 'Pending') return []
  const isWrong = !claimsOnly && correctedMember(set, pod) !== undefined
  const claims = claimChanges(set, pod, claim)
  const missing = isWrong || pod.status?.phase === 'Pending' ? claims.missing : []
  if (!isWrong && missing.length + claims.changed.length === 0) return []
  const isUpdate = isWrong || (!claimsOnly && claims.changed.length > 0)
  return [{ do: 'correct', pod, needsRepair: isWrong, claims: { ...claims, missing }, isUpdate }]
}

/** Sets the owners of the claims of surplus pods before the pods are deleted. */
function condemnedClaims({ condemned }: Members, { set, claim }: Situation): Phase {
  const steps = condemned.flatMap((pod): Step[] => {
    const claims = claimChanges(set, pod, claim)
    return claims.changed.length
      ? [{ do: 'correct', pod, needsRepair: false, claims: { ...claims, missing: [] }, isUpdate: false }]
      : []
  })
  return { steps, waits: false }
}

/**
 * Deletes surplus pods. In ordered mode all desired pods are available here, so only surplus pods can be unhealthy, and
 * the lowest unhealthy one may be deleted first.
 */
function condemnedSteps({ condemned }: Members, situation: Situation): Phase {
  if (isParallel(situation))
    return { steps: condemned.filter((pod) => !isDeleted(pod)).map((pod) => ({ do: 'delete', pod })), waits: false }
  const [last] = condemned
  if (!last) return { steps: [], waits: false }
  const firstUnhealthy = condemned.findLast((pod) => !isHealthy(pod, situation))
  const canDelete = !isDeleted(last) && (isRunningAndAvailable(last, situation) || last === firstUnhealthy)
  return { steps: canDelete ? [{ do: 'delete', pod: last }] : [], waits: true }
}
