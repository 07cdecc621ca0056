/**
 * Pods that are held to be counted, though nobody counts them any more: their Job has ended or gone, or they have none.
 */
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { jobs, type Pod, pods } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { unlessGone } from '../../refusals.ts'
import { finishedCondition } from '../finished.ts'
import { releasePod } from './carry-out.ts'
import { isManagedElsewhere } from './decisions/state.ts'
import { isTracked } from './pods.ts'

const prefix = 'pods/'

/** The key of a pod that is looked at for itself; those of Jobs have two parts. */
export const orphanKey = (pod: Pod): string => prefix + keyOf(pod)

/** The namespace and name of a pod that a key means; undefined for the key of a Job. */
export function orphanOf(key: string): { namespace: string; name: string } | undefined {
  const [kind, namespace = '', name] = key.split('/')
  return kind === 'pods' && name !== undefined ? { namespace, name } : undefined
}

export function isOrphan(pod: Pod, caches: Caches): boolean {
  if (!isTracked(pod)) return false
  const reference = controllerOf(pod)
  if (!reference) return true
  if (reference.kind !== jobs.kind || reference.apiVersion !== 'batch/v1') return false
  const job = caches.get(jobs, pod.metadata.namespace ?? '', reference.name)
  return (
    !job || job.metadata.uid !== reference.uid || (finishedCondition(job) !== undefined && !isManagedElsewhere(job))
  )
}

/** Lets a pod go, if it is an orphan still. */
export async function releaseOrphan(
  { namespace, name }: { namespace: string; name: string },
  { caches, client }: ReconcileContext,
): Promise<void> {
  const pod = caches.get(pods, namespace, name)
  if (!pod || !isOrphan(pod, caches)) return
  const reference = controllerOf(pod)
  // The Job may be newer than what the cache shows.
  if (reference && caches.get(jobs, namespace, reference.name)?.metadata.uid !== reference.uid) {
    const live = await client.get(jobs, namespace, reference.name).catch(unlessGone)
    if (live?.metadata.uid === reference.uid) return
  }
  await releasePod(pod, { client })
}
