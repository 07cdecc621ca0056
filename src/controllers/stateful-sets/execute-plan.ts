/** Executes the plan for a StatefulSet's pods and records events. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import {
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
} from '../../client/kinds.ts'
import { isAlreadyExists, isConflict, isNamespaceTerminating, isNotFound, messageOf } from '../api-errors.ts'
import type { Outstanding } from '../pods/writes/outstanding.ts'
import { slowStart } from '../pods/writes/slow-start.ts'
import type { ClaimChanges } from './claims/changes.ts'
import type { Plan, Step } from './decisions/plan.ts'
import { correctedMember } from './member.ts'

type Context = Pick<ReconcileContext, 'client' | 'events'>

/** Executes the steps in order; rejects with the first error and skips the steps after it. */
export async function executePlan(
  { phases }: Plan,
  set: StatefulSet,
  outstanding: Outstanding,
  context: Context,
): Promise<void> {
  for (const steps of phases) {
    expect(steps, set, outstanding)
    const attempted = new Set<Step>()
    const { error } = await slowStart(steps.length, async (at) => {
      const step = steps[at]!
      attempted.add(step)
      try {
        if (!(await execute(step, set, context))) withdraw(step, set, outstanding)
      } catch (error) {
        withdraw(step, set, outstanding)
        throw error
      }
    })
    for (const step of steps) if (!attempted.has(step)) withdraw(step, set, outstanding)
    if (error !== undefined) throw error
  }
}

function expect(
  steps: readonly Step[],
  { metadata: { uid = '' } }: StatefulSet,
  { creations, deletions }: Outstanding,
): void {
  const created = steps.filter((step) => step.do === 'create').length
  const deleted = steps.flatMap((step) => (step.do === 'delete' ? [step.pod.metadata.uid ?? ''] : []))
  if (created) creations.expectCreations(uid, created)
  if (deleted.length) deletions.expectDeletions(uid, deleted)
}

function withdraw(step: Step, { metadata: { uid = '' } }: StatefulSet, { creations, deletions }: Outstanding): void {
  if (step.do === 'create') creations.creationObserved(uid)
  if (step.do === 'delete') deletions.deletionObserved(uid, step.pod.metadata.uid ?? '')
}

/** Resolves with true if the watch will report the change. */
async function execute(step: Step, set: StatefulSet, context: Context): Promise<boolean> {
  switch (step.do) {
    case 'create':
      return create(step.pod, step.claims, set, context)
    case 'delete':
      return remove(step.pod, set, context)
    case 'correct':
      await correct(step, set, context)
      return true
    default:
      return step satisfies never
  }
}

async function create(pod: Pod, claims: ClaimChanges, set: StatefulSet, context: Context): Promise<boolean> {
  try {
    await writeClaims(pod, claims, set, context)
    // The pod is created after the claims are deleted; their deletion requeues the set.
    if (claims.terminating.length) {
      recordOutcome(
        'create',
        pod,
        set,
        context,
        new Error(claims.terminating.map((name) => `pvc ${name} is being deleted`).join(', ')),
      )
      return false
    }
    await context.client.create(pods, pod)
  } catch (error) {
    if (isNamespaceTerminating(error)) return false
    // Created earlier and not yet in the cache, or not ours. Upstream records no event either.
    if (!isAlreadyExists(error)) recordOutcome('create', pod, set, context, error)
    throw error
  }
  recordOutcome('create', pod, set, context)
  return true
}

async function remove(pod: Pod, set: StatefulSet, context: Context): Promise<boolean> {
  const { namespace = '', name = '', uid } = pod.metadata
  try {
    await context.client.delete(pods, namespace, name, { uid })
  } catch (error) {
    if (isNotFound(error)) return false
    recordOutcome('delete', pod, set, context, error)
    throw error
  }
  recordOutcome('delete', pod, set, context)
  return true
}

async function correct(
  { pod, needsRepair: isWrong, claims, isUpdate }: Extract<Step, { do: 'correct' }>,
  set: StatefulSet,
  context: Context,
): Promise<void> {
  try {
    await writeClaims(pod, claims, set, context)
    if (isWrong) await repair(pod, set, context)
  } catch (error) {
    if (isUpdate && !isConflict(error)) recordOutcome('update', pod, set, context, error)
    throw error
  }
  if (isUpdate) recordOutcome('update', pod, set, context)
}

/** Updates the pod as read from the server: the cache holds only a part of it. */
async function repair(
  { metadata: { namespace = '', name = '', uid } }: Pod,
  set: StatefulSet,
  { client }: Context,
): Promise<void> {
  const pod = await client.get(pods, namespace, name)
  const corrected = pod.metadata.uid === uid ? correctedMember(set, pod) : undefined
  if (corrected) await client.update(pods, corrected)
}

async function writeClaims(
  pod: Pod,
  { missing, changed }: ClaimChanges,
  set: StatefulSet,
  context: Context,
): Promise<void> {
  for (const claim of missing) await createClaim(claim, pod, set, context)
  for (const claim of changed) await context.client.update(persistentVolumeClaims, claim)
}

async function createClaim(
  claim: PersistentVolumeClaim,
  pod: Pod,
  set: StatefulSet,
  { client, events }: Context,
): Promise<void> {
  try {
    await client.create(persistentVolumeClaims, claim)
  } catch (error) {
    // The claim is not in the cache yet: it may be deleted with the previous pod.
    if (isAlreadyExists(error)) throw error
    if (isNamespaceTerminating(error)) return
    const of = `create Claim ${claim.metadata.name} for Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`
    events.record(set, 'Warning', 'FailedCreate', `${of} failed error: ${messageOf(error)}`)
    throw new Error(`failed to create PVC ${claim.metadata.name}: ${messageOf(error)}`, { cause: error })
  }
  const what = `Claim ${claim.metadata.name} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`
  events.record(set, 'Normal', 'SuccessfulCreate', `create ${what} success`)
}

const reasons = { create: 'Create', update: 'Update', delete: 'Delete' } as const

/** Records an event for a success or, with `error`, for a failure. */
function recordOutcome(
  verb: keyof typeof reasons,
  { metadata: { name } }: Pod,
  set: StatefulSet,
  { events }: Context,
  error?: unknown,
): void {
  const subject = `${verb} Pod ${name} in StatefulSet ${set.metadata.name}`
  if (error === undefined) events.record(set, 'Normal', `Successful${reasons[verb]}`, `${subject} successful`)
  else events.record(set, 'Warning', `Failed${reasons[verb]}`, `${subject} failed error: ${messageOf(error)}`)
}
