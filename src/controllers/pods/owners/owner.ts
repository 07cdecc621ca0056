/** Who controls an object: the one owner reference that says so, and the index of objects by it. */
import type { KubeObject, OwnerReference } from '../../../machinery/object.ts'

/** The reference to the controller of an object, if it has one. */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined => metadata.ownerReferences?.find(({ controller }) => controller)

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean => controllerOf(object)?.uid === owner.metadata.uid

/** The reference by which `owner` controls an object; the object holds up the owner's deletion in the foreground. */
export const controllerReference = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
})

/** Objects by the uid of their controller; those without one by their namespace (`orphansOf`). */
export const byController = (object: KubeObject): [string] => [controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace ?? '')]

/** The value of the index under which a namespace's objects are that nobody controls. */
export const orphansOf = (namespace: string): string => `orphans of ${namespace}`
