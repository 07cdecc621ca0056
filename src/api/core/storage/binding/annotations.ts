/**
 * Annotations by which the binder, provisioners and the scheduler tell each other what they did, and the binder's
 * finalizer.
 */
import type { KubeObject } from '../../../../machinery/object.ts'

/** On claims: the binding is complete. What is missing from now on is lost. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed'
/** On claims and volumes: not a user, but the binder chose the other. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller'
/** On volumes: who made it for a claim. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by'
/** On volumes and claims whose provisioner was in Kubernetes once: the CSI driver that took its place. */
export const migratedTo = 'pv.kubernetes.io/migrated-to'
/** On claims: who is asked to make a volume; the first name is older. */
export const storageProvisioner = [
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/storage-provisioner',
] as const
/** On claims that wait for a pod: the node that the scheduler found for it. */
export const selectedNode = 'volume.kubernetes.io/selected-node'
/** Holds a volume until what it stands for is deleted too (KEP-2644). */
export const deletionFinalizer = 'kubernetes.io/pv-controller'

export const has = ({ metadata }: KubeObject, annotation: string): boolean =>
  metadata.annotations?.[annotation] !== undefined

/** The object with annotations; those that are undefined are taken away. */
export function annotated<T extends KubeObject>(object: T, changes: Readonly<Record<string, string | undefined>>): T {
  const annotations = { ...object.metadata.annotations }
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete annotations[name]
    else annotations[name] = value
  }
  return { ...object, metadata: { ...object.metadata, annotations } }
}
