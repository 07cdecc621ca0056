/**
 * Asynchronous conversion between the stored and the served versions of a resource, which may fail for some objects.
 */
import type { KubeObject } from '../../../machinery/object.ts'

export interface ObjectConversion {
  /**
   * Converts stored objects, all of one version, to the resource's own version, in the same order. The objects may be
   * modified. Rejects with a StatusError if one cannot be converted.
   */
  fromStored(objects: readonly KubeObject[]): Promise<readonly KubeObject[]>
  /** Converts an object of the resource's version to the stored form. The object is not modified. */
  toStorage(object: KubeObject): Promise<KubeObject>
}
