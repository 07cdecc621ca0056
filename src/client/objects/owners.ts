/** Owner references to the controller of an object. */
import type { KubeObject, OwnerReference } from '../../machinery/object.ts'
import { requireName } from '../resource.ts'

/**
 * Returns the owner reference of the object's controller, if it has one.
 * @example const isOwned = controllerOf(deployment)?.uid === fleet.metadata.uid
 */
export const controllerOf = ({ metadata: { ownerReferences = [] } }: KubeObject): OwnerReference | undefined =>
  ownerReferences.find(({ controller }) => controller)

/**
 * Returns the owner reference to a controller: its object is deleted with the owner, and blocks the owner's foreground
 * deletion. Throws an Error for an owner without name or uid, such as one that is not created yet.
 * @example const metadata = { namespace, name, ownerReferences: [controllerReference(fleet)] }
 */
export function controllerReference({
  apiVersion,
  kind,
  metadata: { name = '', uid = '' },
}: KubeObject): OwnerReference {
  requireName(name)
  if (!uid) throw new Error(`${kind} ${name} has no uid: create it first, then let it own other objects`)
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}
