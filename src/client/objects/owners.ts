/** Who owns an object: its controller, and how one is named. */
import type { KubeObject, OwnerReference } from '../../machinery/object.ts'

/** The owner that looks after an object. */
export const controllerOf = ({ metadata: { ownerReferences = [] } }: KubeObject): OwnerReference | undefined =>
  ownerReferences.find(({ controller }) => controller)

/** How an object names its controller, so that it goes with it; the object holds up the owner's deletion in the foreground. */
export const controllerReference = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
})
