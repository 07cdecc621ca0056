/**
 * What happens in the cluster that may make pods schedulable, and how a plug-in says which of it matters to the pods
 * that it refused.
 */
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  DeviceClass,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceClaim,
  ResourceSlice,
  StorageClass,
  VolumeAttachment,
} from '../../client/kinds.ts'
import type { PodInfo } from './pods/pod-info.ts'

/** The kinds that events tell of, and their objects. */
export interface EventObjects {
  /** Pods that have a node, and (by `Update…`) the very pod that waits. */
  Pod: Pod
  Node: Node
  PersistentVolume: PersistentVolume
  PersistentVolumeClaim: PersistentVolumeClaim
  StorageClass: StorageClass
  CSINode: CSINode
  CSIDriver: CSIDriver
  CSIStorageCapacity: CSIStorageCapacity
  VolumeAttachment: VolumeAttachment
  ResourceClaim: ResourceClaim
  ResourceSlice: ResourceSlice
  DeviceClass: DeviceClass
  Namespace: Namespace
}

export type EventResource = keyof EventObjects

type CommonAction = 'Add' | 'Update' | 'Delete'
export type NodeAction =
  | 'UpdateAllocatable'
  | 'UpdateLabel'
  | 'UpdateTaint'
  | 'UpdateCondition'
  | 'UpdateAnnotation'
  | 'UpdateDeclaredFeature'
export type PodAction =
  | 'UpdateLabel'
  | 'UpdateScaleDown'
  | 'UpdateToleration'
  | 'UpdateSchedulingGatesEliminated'
  | 'UpdateGeneratedResourceClaim'

/** `Update` of a node or pod is any other change of it; where a registration says `Update`, every change is meant. */
export type EventAction = CommonAction | NodeAction | PodAction

/** One thing that happened. `before` is missing where the object is new, `after` where it has gone. */
export interface ClusterEvent<R extends EventResource = EventResource> {
  readonly resource: R
  readonly action: EventAction
  readonly before?: EventObjects[R]
  readonly after?: EventObjects[R]
}

/** Events that may make a pod schedulable which this plug-in refused. */
export interface EventRegistration<R extends EventResource = EventResource> {
  readonly resource: R
  readonly actions: readonly EventAction[]
  /**
   * Whether this event may help this pod: the queueing hint (KEP-4247). Without it, each one may. What it throws counts
   * as yes.
   */
  mayHelp?(pod: PodInfo, before: EventObjects[R] | undefined, after: EventObjects[R] | undefined): boolean
}

/** A registration whose hint knows the type of its objects. */
export const on = <R extends EventResource>(
  resource: R,
  actions: readonly EventAction[],
  mayHelp?: (pod: PodInfo, before: EventObjects[R] | undefined, after: EventObjects[R] | undefined) => boolean,
): EventRegistration => ({ resource, actions, mayHelp })
