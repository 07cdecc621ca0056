/** Annotations that the binder, provisioners and the scheduler exchange, and the binder's finalizer. */
import type { KubeObject } from '../../../../machinery/object.ts'

/** On claims: the binding is complete. If the volume is missing from now on, the claim is lost. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed'
/** On claims and volumes: the binder set the reference to the other object, not a user. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller'
/** On volumes: the provisioner that created it. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by'
/** On volumes and claims of a former in-tree provisioner: the CSI driver that replaced it. */
export const migratedTo = 'pv.kubernetes.io/migrated-to'
/** On claims: the provisioner that must create a volume. The first name is the older one. */
export const storageProvisioner = [
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/storage-provisioner',
] as const
/** On claims that wait for a consumer: the node that the scheduler selected for its pod. */
export const selectedNode = 'volume.kubernetes.io/selected-node'
/** Retains a volume until its storage is deleted too (KEP-2644). */
export const deletionFinalizer = 'kubernetes.io/pv-controller'

export const has = ({ metadata }: KubeObject, annotation: string): boolean =>
  metadata.annotations?.[annotation] !== undefined

/** Returns a copy of the object with changed annotations; undefined removes one. */
export function withAnnotations<T extends KubeObject>(
  object: T,
  changes: Readonly<Record<string, string | undefined>>,
): T {
  const annotations = { ...object.metadata.annotations }
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete annotations[name]
    else annotations[name] = value
  }
  return { ...object, metadata: { ...object.metadata, annotations } }
}
