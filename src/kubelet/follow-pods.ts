/**
 * Follows the pods of this node from their sources, and hands them to their workers. Static pods start before the API
 * server answers.
 */
import { keyOf } from '../client/informers/informer.ts'
import type { Pod } from '../client/kinds.ts'
import type { Lifetime } from '../lib/lifetime/lifetime.ts'
import type { KubeletParts } from './components/parts.ts'
import type { Retention } from './containers/collection/collection-plan.ts'
import { statusOf } from './pod-types.ts'
import { isStatic } from './sources/static-pods/annotations.ts'

/** Resolves when the node is registered and all of its pods have a worker. */
export async function followPods(parts: KubeletParts, lifetime: Lifetime): Promise<void> {
  const { registration, csi, changes, desired, dispatcher, mirrors, startManifests, status, workers, allocations } =
    parts
  const stopping = new AbortController()
  const running: Promise<void>[] = []
  lifetime.onEnd(async () => {
    stopping.abort()
    await Promise.allSettled(running)
  })
  desired.onPod((pod, old) => {
    dispatcher.change(pod, old)
    if (pod && !isStatic(pod)) status.observe(pod.metadata.uid ?? '', pod)
  })
  desired.onMirror((key) => {
    mirrors.reconcile(key)
    const uid = desired.staticNamed(key)?.metadata.uid
    const mirror = desired.mirrorNamed(key)
    if (uid) status.refresh(uid)
    if (uid && mirror) status.observe(uid, mirror)
  })
  await changes.start()
  await startManifests()
  // The node is ready once its CSINode exists.
  await registration.start(() => csi.start())
  await followApi(parts, stopping.signal, running)
  mirrors.start(new Set([...desired.pods, ...desired.mirrors].map(keyOf)))
  await dispatcher.settled()
  allocations.start()
  for (const identity of changes.pods) workers.endOrphan(identity)
  desired.onPod((pod, old) => {
    if (!pod && old) parts.containerCollector.podEnded(old.metadata.uid ?? '')
  })
  parts.evictions.start()
  parts.containerCollector.start({
    retention: (uid) => retentionOf(parts, uid),
    removeFiles: (isRetained) => parts.podRuntime.removeLeftovers(isRetained),
  })
}

/** Resolves when the pods of the API are known. Running pods come first, as they are older than new ones. */
async function followApi(
  { pods, services, ownNode, desired }: KubeletParts,
  signal: AbortSignal,
  running: Promise<void>[],
): Promise<void> {
  // Containers get the variables of all Services; the node's labels and taints decide about new pods.
  await Promise.all(
    [services, pods, ownNode].map((informer) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      running.push(informer.run(signal, resolve))
      return promise
    }),
  )
  const first: Pod[] = []
  let isFirst = true
  pods.onChange((pod, old) => {
    if (isFirst && pod) first.push(pod)
    else desired.setOfApi(pod, old)
  })
  isFirst = false
  const createdAt = ({ metadata }: Pod): string => String(metadata.creationTimestamp ?? '')
  first.sort((a, b) => (createdAt(a) < createdAt(b) ? -1 : createdAt(a) > createdAt(b) ? 1 : 0))
  for (const pod of first) desired.setOfApi(pod, undefined)
}

/** The part of a pod that is retained in the runtime and on disk. */
function retentionOf({ desired, workers, status }: KubeletParts, uid: string): Retention {
  if (workers.has(uid)) return 'live'
  const pod = desired.find(uid)
  if (!pod || pod.metadata.deletionTimestamp) return 'none'
  return (status.statusOf(uid) ?? statusOf(pod)).reason === 'Evicted' ? 'none' : 'ended'
}
