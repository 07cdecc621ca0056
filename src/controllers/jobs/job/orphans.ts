/** Releases pods with the tracking finalizer that will not be counted: their Job has finished or does not exist. */
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { jobs, type Pod, pods } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { finishedCondition } from '../finished.ts'
import { isManagedExternally } from './decisions/state.ts'
import { releasePod } from './pod-writes.ts'
import { isTracked } from './pods.ts'

const prefix = 'pods/'

/** The work queue key of an orphaned pod. Keys of Jobs have two parts, these have three. */
export const orphanKey = (pod: Pod): string => prefix + keyOf(pod)

/** The namespace and name in an orphaned pod's key; undefined for the key of a Job. */
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
    !job || job.metadata.uid !== reference.uid || (finishedCondition(job) !== undefined && !isManagedExternally(job))
  )
}

/** Releases a pod if it is still an orphan. */
export async function releaseOrphan(
  { namespace, name }: { namespace: string; name: string },
  { caches, client }: ReconcileContext,
): Promise<void> {
  const pod = caches.get(pods, namespace, name)
  if (!pod || !isOrphan(pod, caches)) return
  const reference = controllerOf(pod)
  // The Job may be newer than the cache.
  if (reference && caches.get(jobs, namespace, reference.name)?.metadata.uid !== reference.uid) {
    const live = await client.get(jobs, namespace, reference.name).catch(ignoreNotFound)
    if (live?.metadata.uid === reference.uid) return
  }
  await releasePod(pod, { client })
}
