/**
 * Changes of the cluster that may make pods schedulable, and how a plug-in registers for those that may help the pods
 * it rejected.
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

/** The kinds of events, and the types of their objects. */
export interface EventObjects {
  /** Pods that have a node, and (for `Update…`) the unscheduled pod itself. */
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

/** A kind of object whose changes may make a pod schedulable. */
export type EventResource = keyof EventObjects

type CommonAction = 'Add' | 'Update' | 'Delete'
/** A change of a node. */
export type NodeAction =
  | 'UpdateAllocatable'
  | 'UpdateLabel'
  | 'UpdateTaint'
  | 'UpdateCondition'
  | 'UpdateAnnotation'
  | 'UpdateDeclaredFeature'
/** A change of a pod. */
export type PodAction =
  | 'UpdateLabel'
  | 'UpdateScaleDown'
  | 'UpdateToleration'
  | 'UpdateSchedulingGatesEliminated'
  | 'UpdateGeneratedResourceClaim'

/** `Update` of a node or pod is any other change; in a registration, `Update` stands for every change. */
export type EventAction = CommonAction | NodeAction | PodAction

/** One change. `before` is missing for a new object, `after` for a deleted one. */
export interface ClusterEvent<R extends EventResource = EventResource> {
  readonly resource: R
  readonly action: EventAction
  readonly before?: EventObjects[R]
  readonly after?: EventObjects[R]
}

/** Events that may make pods schedulable that this plug-in rejected. */
export interface EventRegistration<R extends EventResource = EventResource> {
  readonly resource: R
  readonly actions: readonly EventAction[]
  /**
   * The queueing hint (KEP-4247): returns true if this event may help this pod. Default: true. An exception counts as
   * true.
   */
  mayHelp?(pod: PodInfo, before: EventObjects[R] | undefined, after: EventObjects[R] | undefined): boolean
}

/** A registration whose hint has the right types. */
export const on = <R extends EventResource>(
  resource: R,
  actions: readonly EventAction[],
  mayHelp?: (pod: PodInfo, before: EventObjects[R] | undefined, after: EventObjects[R] | undefined) => boolean,
): EventRegistration => ({ resource, actions, mayHelp })
