/** Who controls an object: the one owner reference that says so, and the index of objects by it. */
import { controllerOf } from '../../../client/objects/owners.ts'
import type { KubeObject } from '../../../machinery/object.ts'

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  controllerOf(object)?.uid === owner.metadata.uid

/** Objects by the uid of their controller; those without one by their namespace (`orphansOf`). */
export const byController = (object: KubeObject): [string] => [
  controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace ?? ''),
]

/** The value of the index under which a namespace's objects are that nobody controls. */
export const orphansOf = (namespace: string): string => `orphans of ${namespace}`
