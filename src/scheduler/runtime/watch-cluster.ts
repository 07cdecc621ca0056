/** Passes changes of nodes, pods and other objects to the cache and the queue. */
import { keyOf } from '../../client/informers/object-store.ts'
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  deviceClasses,
  namespaces,
  nodes,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  resourceClaims,
  resourceSlices,
  storageClasses,
  volumeAttachments,
} from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { SchedulerCache } from '../cache/cache.ts'
import type { ClusterEvent, EventObjects, EventResource } from '../framework/cluster-events.ts'
import { PodInfo } from '../framework/pods/pod-info.ts'
import type { NominatedPods } from '../queue/nominated-pods.ts'
import { nodeActions, placeFreed, podActions } from '../queue/object-changes.ts'
import type { SchedulingQueue } from '../queue/scheduling-queue.ts'
import type { ClusterSource } from './cluster-source.ts'
import type { PreparingPods } from './preparing-pods.ts'
import type { WaitingPods } from './waiting-pods.ts'

export interface Watchers {
  readonly source: ClusterSource
  readonly cache: SchedulerCache
  readonly queue: SchedulingQueue
  readonly nominated: NominatedPods
  readonly waitingPods: WaitingPods
  readonly preparingPods: PreparingPods
  /** The kinds whose changes may help pods. */
  readonly resources: ReadonlySet<EventResource>
  /** True if the pod is for one of our profiles. */
  readonly isOurs: (pod: Pod) => boolean
  /** Runs the change immediately, or after the scheduling cycle in progress. */
  readonly apply: (change: () => void) => void
  readonly notify: (event: ClusterEvent) => void
  /** Counts an event that is not passed on: pods without a node are added, changed and deleted. */
  readonly countEvent: (event: ClusterEvent) => void
}

/** Follows the cluster from now on. */
export function watchCluster(watchers: Watchers): void {
  const { source, cache, resources, apply, notify } = watchers
  source.lister(nodes).onChange((after, before) =>
    apply(() => {
      if (after) cache.setNode(after)
      else cache.removeNode(before?.metadata.name ?? '')
      if (!after || !before) notify({ resource: 'Node', action: after ? 'Add' : 'Delete', before, after })
      else for (const action of nodeActions(before, after)) notify({ resource: 'Node', action, before, after })
    }),
  )
  source.lister(pods).onChange((after, before) => apply(() => podChanged(watchers, live(after), live(before))))
  for (const [name, kind] of Object.entries(otherKinds) as [keyof typeof otherKinds, Resource][]) {
    if (!resources.has(name)) continue
    source.lister(kind).onChange((after, before) => {
      if (after === before) return
      const action = !before ? 'Add' : after ? 'Update' : 'Delete'
      apply(() => notify({ resource: name, action, before, after } as ClusterEvent))
    })
  }
}

const otherKinds: { readonly [Name in Exclude<EventResource, 'Pod' | 'Node'>]: Resource<EventObjects[Name]> } = {
  PersistentVolume: persistentVolumes,
  PersistentVolumeClaim: persistentVolumeClaims,
  StorageClass: storageClasses,
  CSINode: csiNodes,
  CSIDriver: csiDrivers,
  CSIStorageCapacity: csiStorageCapacities,
  VolumeAttachment: volumeAttachments,
  ResourceClaim: resourceClaims,
  ResourceSlice: resourceSlices,
  DeviceClass: deviceClasses,
  Namespace: namespaces,
}

/** A pod that has ended is treated as deleted. */
const live = (pod: Pod | undefined): Pod | undefined =>
  pod && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed' ? pod : undefined

function podChanged(watchers: Watchers, after: Pod | undefined, before: Pod | undefined): void {
  if (before?.spec?.nodeName || after?.spec?.nodeName) {
    scheduledPodChanged(watchers, after, before)
    return
  }
  if (after) unscheduledPodChanged(watchers, after, before)
  else if (before) unscheduledPodDeleted(watchers, before)
  else return
  watchers.countEvent({ resource: 'Pod', action: !before ? 'Add' : after ? 'Update' : 'Delete', before, after })
}

function scheduledPodChanged(
  { cache, queue, nominated, isOurs, notify }: Watchers,
  after: Pod | undefined,
  before: Pod | undefined,
): void {
  if (!after) {
    cache.removePod(before!)
    notify({ resource: 'Pod', action: 'Delete', before })
    return
  }
  cache.setPod(after)
  if (before?.spec?.nodeName) {
    for (const action of podActions(before, after)) notify({ resource: 'Pod', action, before, after })
    return
  }
  // It was bound, by us or by another scheduler.
  if (before && isOurs(before)) {
    queue.delete(before)
    nominated.delete(before.metadata.uid ?? '', after.spec?.nodeName)
  }
  notify({ resource: 'Pod', action: 'Add', after })
}

function unscheduledPodChanged(watchers: Watchers, after: Pod, before: Pod | undefined): void {
  const { cache, queue, nominated, isOurs } = watchers
  if (!isOurs(after)) return
  if (cache.isAssumed(after.metadata.uid ?? '')) {
    // A finalizer holds it, but it will never be bound.
    if (after.metadata.deletionTimestamp && !before?.metadata.deletionTimestamp) releaseNode(watchers, after)
    return
  }
  if (before === after) return
  const node = after.status?.nominatedNodeName ?? ''
  if (node !== (before?.status?.nominatedNodeName ?? '') && (node || before)) nominated.set(new PodInfo(after), node)
  if (before) queue.update(before, after)
  else queue.add(after)
}

function unscheduledPodDeleted(watchers: Watchers, before: Pod): void {
  const { queue, nominated, isOurs } = watchers
  if (!isOurs(before)) return
  queue.delete(before)
  nominated.delete(before.metadata.uid ?? '')
  releaseNode(watchers, before)
}

/** Releases the node of the pod immediately, whatever its binding waits for. */
function releaseNode({ cache, waitingPods, preparingPods, notify }: Watchers, pod: Pod): void {
  const { uid = '' } = pod.metadata
  waitingPods.get(uid)?.reject('', 'removed')
  preparingPods.get(uid)?.cancel(`pod ${keyOf(pod)} is being deleted`)
  const assumedNode = cache.nodeOf(uid)
  if (assumedNode === undefined) return
  cache.removePod(pod)
  notify(placeFreed(pod, assumedNode))
}
