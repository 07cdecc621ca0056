/** Makes, removes and releases a Job's pods. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Job, type Pod, pods } from '../../../client/kinds.ts'
import { type Attempts, attemptEach } from '../../pods/writing/attempt-each.ts'
import type { Expectations } from '../../pods/writing/expectations.ts'
import { createPod, deletePod } from '../../pods/writing/pod-control.ts'
import { slowStart } from '../../pods/writing/slow-start.ts'
import { isNamespaceTerminating, isNotFound } from '../../refusals.ts'
import type { JobState } from './decisions/state.ts'
import { podOfJob } from './pod-template.ts'
import { isTracked, trackingFinalizer } from './pods.ts'

type Context = Pick<ReconcileContext, 'client' | 'events'>

/** Makes one pod for each index; resolves with how many there are. */
export async function createPods(
  { job, indexes }: JobState,
  create: readonly (number | undefined)[],
  expectations: Expectations,
  context: Context,
) {
  const { uid = '' } = job.metadata
  expectations.expectCreations(uid, create.length)
  const { done, error } = await slowStart(create.length, (at) =>
    createPod(podOfJob(job, create[at], indexes), job, context),
  )
  expectations.created(uid, create.length - done)
  return { done, error: isNamespaceTerminating(error) ? undefined : error }
}

/**
 * Deletes pods. Unless they are `counted`, they lose their finalizer before, and are forgotten. Resolves with those
 * that have gone.
 */
export async function removePods(
  job: Job,
  remove: readonly Pod[],
  counted: boolean,
  expectations: Expectations,
  context: Context,
): Promise<Attempts<Pod>> {
  const { uid = '' } = job.metadata
  const uidOf = ({ metadata }: Pod): string => metadata.uid ?? ''
  expectations.expectDeletions(uid, remove.map(uidOf))
  return await attemptEach(remove, async (pod) => {
    try {
      // One that has ended meanwhile has another version: it stays, and is counted.
      if (!counted && isTracked(pod)) await releasePod(pod, context, pod.metadata.resourceVersion)
      await deletePod(pod, job, context)
    } catch (error) {
      expectations.deleted(uid, uidOf(pod))
      if (!isNotFound(error)) throw error
    }
    return pod
  })
}

/** Removes the finalizer that holds a pod until it is counted; a pod that has gone is fine. */
export async function releasePod(
  { metadata: { namespace = '', name = '', uid } }: Pod,
  { client }: Pick<Context, 'client'>,
  resourceVersion?: string,
): Promise<void> {
  const metadata = {
    uid,
    ...(resourceVersion && { resourceVersion }),
    '$deleteFromPrimitiveList/finalizers': [trackingFinalizer],
  }
  await client.patch(pods, namespace, name, { metadata }).catch((error) => {
    if (!isNotFound(error)) throw error
  })
}

/** Puts the finalizer back on pods that lost it when they were about to be removed, and were not. */
export async function holdPods(loose: readonly Pod[], { client }: Pick<Context, 'client'>): Promise<void> {
  const { error } = await attemptEach(loose, async ({ metadata: { namespace = '', name = '', uid } }) => {
    await client.patch(pods, namespace, name, { metadata: { uid, finalizers: [trackingFinalizer] } }).catch((error) => {
      if (!isNotFound(error)) throw error
    })
  })
  if (error !== undefined) throw error
}
