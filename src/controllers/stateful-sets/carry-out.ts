/** Does what is planned for a StatefulSet's pods, and tells so in its events. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import {
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
} from '../../client/kinds.ts'
import type { Outstanding } from '../pods/writes/outstanding.ts'
import { slowStart } from '../pods/writes/slow-start.ts'
import { isAlreadyExists, isConflict, isNamespaceTerminating, isNotFound, messageOf } from '../refusals.ts'
import type { ClaimChanges } from './claims/changes.ts'
import type { Plan, Step } from './decisions/plan.ts'
import { correctedMember } from './member.ts'

type Context = Pick<ReconcileContext, 'client' | 'events'>

/** Resolves when all is done; rejects with the first failure: what would have come after it is not done then. */
export async function carryOut(
  { phases }: Plan,
  set: StatefulSet,
  outstanding: Outstanding,
  context: Context,
): Promise<void> {
  for (const steps of phases) {
    expect(steps, set, outstanding)
    const tried = new Set<Step>()
    const { error } = await slowStart(steps.length, async (at) => {
      const step = steps[at]!
      tried.add(step)
      try {
        if (!(await take(step, set, context))) unexpect(step, set, outstanding)
      } catch (error) {
        unexpect(step, set, outstanding)
        throw error
      }
    })
    for (const step of steps) if (!tried.has(step)) unexpect(step, set, outstanding)
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

function unexpect(step: Step, { metadata: { uid = '' } }: StatefulSet, { creations, deletions }: Outstanding): void {
  if (step.do === 'create') creations.creationObserved(uid)
  if (step.do === 'delete') deletions.deletionObserved(uid, step.pod.metadata.uid ?? '')
}

/** Resolves with whether it will be seen. */
async function take(step: Step, set: StatefulSet, context: Context): Promise<boolean> {
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
    // The pod is made when they have gone: that is looked at again then.
    if (claims.going.length) {
      tell(
        'create',
        pod,
        set,
        context,
        new Error(claims.going.map((name) => `pvc ${name} is being deleted`).join(', ')),
      )
      return false
    }
    await context.client.create(pods, pod)
  } catch (error) {
    if (isNamespaceTerminating(error)) return false
    // Made before, and not seen yet; or it is somebody else's. Upstream does not tell either.
    if (!isAlreadyExists(error)) tell('create', pod, set, context, error)
    throw error
  }
  tell('create', pod, set, context)
  return true
}

async function remove(pod: Pod, set: StatefulSet, context: Context): Promise<boolean> {
  const { namespace = '', name = '', uid } = pod.metadata
  try {
    await context.client.delete(pods, namespace, name, { uid })
  } catch (error) {
    if (isNotFound(error)) return false
    tell('delete', pod, set, context, error)
    throw error
  }
  tell('delete', pod, set, context)
  return true
}

async function correct(
  { pod, isWrong, claims, isUpdate }: Extract<Step, { do: 'correct' }>,
  set: StatefulSet,
  context: Context,
): Promise<void> {
  try {
    await writeClaims(pod, claims, set, context)
    if (isWrong) await repair(pod, set, context)
  } catch (error) {
    if (isUpdate && !isConflict(error)) tell('update', pod, set, context, error)
    throw error
  }
  if (isUpdate) tell('update', pod, set, context)
}

/** What is written is made of the pod as it is: the cache has less than all of it. */
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
    // One that is there is not seen yet: it may be about to go, with the pod before.
    if (isAlreadyExists(error)) throw error
    if (isNamespaceTerminating(error)) return
    const of = `create Claim ${claim.metadata.name} for Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`
    events.record(set, 'Warning', 'FailedCreate', `${of} failed error: ${messageOf(error)}`)
    throw new Error(`failed to create PVC ${claim.metadata.name}: ${messageOf(error)}`, { cause: error })
  }
  const message = `create Claim ${claim.metadata.name} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} success`
  events.record(set, 'Normal', 'SuccessfulCreate', message)
}

const reasons = { create: 'Create', update: 'Update', delete: 'Delete' } as const

/** `error`: it has failed. */
function tell(
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
