/** Who owns an object: its controller, and how one is named. */
import type { KubeObject, OwnerReference } from '../../machinery/object.ts'
import { requireName } from '../resource.ts'

/** The owner that looks after an object. */
export const controllerOf = ({ metadata: { ownerReferences = [] } }: KubeObject): OwnerReference | undefined =>
  ownerReferences.find(({ controller }) => controller)

/**
 * How an object names its controller, so that it goes with it; the object holds up the owner's deletion in the
 * foreground. Throws an Error for an owner without name or uid, such as one that is not created yet.
 */
export function controllerReference({
  apiVersion,
  kind,
  metadata: { name = '', uid = '' },
}: KubeObject): OwnerReference {
  requireName(name)
  if (!uid) throw new Error(`${kind} ${name} has no uid: only an object that the server has created can own others`)
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}
