/** The controller of an object, and an index of objects by their controller. */
import { controllerOf } from '../../../client/objects/owners.ts'
import type { KubeObject } from '../../../machinery/object.ts'

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  controllerOf(object)?.uid === owner.metadata.uid

/** Index function: the uid of an object's controller, or `orphansOf(namespace)` if it has none. */
export const byController = (object: KubeObject): [string] => [
  controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace ?? ''),
]

/** The index value of a namespace's objects that have no controller. */
export const orphansOf = (namespace: string): string => `orphans of ${namespace}`
