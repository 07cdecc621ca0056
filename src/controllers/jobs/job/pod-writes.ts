/** Creates, deletes and releases a Job's pods. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Job, type Pod, pods } from '../../../client/kinds.ts'
import { isNamespaceTerminating, isNotFound } from '../../api-errors.ts'
import { type Attempts, attemptEach } from '../../pods/writes/attempt-each.ts'
import type { Expectations } from '../../pods/writes/expectations.ts'
import { createPod, deletePod } from '../../pods/writes/pod-control.ts'
import { slowStart } from '../../pods/writes/slow-start.ts'
import type { JobState } from './decisions/state.ts'
import { podOfJob } from './pod-template.ts'
import { isTracked, trackingFinalizer } from './pods.ts'

type Context = Pick<ReconcileContext, 'client' | 'events'>

/** Creates one pod for each element of `create`; resolves with the number created. */
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
  expectations.creationObserved(uid, create.length - done)
  return { done, error: isNamespaceTerminating(error) ? undefined : error }
}

/**
 * Deletes pods; resolves with the deleted ones. Unless they are to be `counted`, their finalizer is removed first, so
 * that they do not count.
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
      // A pod that has ended meanwhile has another resourceVersion: it is retained and counted.
      if (!counted && isTracked(pod)) await releasePod(pod, context, pod.metadata.resourceVersion)
      await deletePod(pod, job, context)
    } catch (error) {
      expectations.deletionObserved(uid, uidOf(pod))
      if (!isNotFound(error)) throw error
    }
    return pod
  })
}

/** Removes the finalizer that retains a pod until it is counted; ignores a missing pod. */
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

/** Restores the finalizer on pods that lost it before a deletion that did not happen. */
export async function restoreFinalizers(unheld: readonly Pod[], { client }: Pick<Context, 'client'>): Promise<void> {
  const { error } = await attemptEach(unheld, async ({ metadata: { namespace = '', name = '', uid } }) => {
    await client.patch(pods, namespace, name, { metadata: { uid, finalizers: [trackingFinalizer] } }).catch((error) => {
      if (!isNotFound(error)) throw error
    })
  })
  if (error !== undefined) throw error
}
