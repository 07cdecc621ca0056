/**
 * How a resource whose versions somebody else converts gets its objects: that takes time, and may fail for some of
 * them.
 */
import type { KubeObject } from '../../../machinery/object.ts'

export interface ObjectConversion {
  /**
   * Objects of the store, all of one version, in the resource's own version, in the same order. They may be changed.
   * Rejects with a StatusError if one cannot be converted.
   */
  fromStored(objects: readonly KubeObject[]): Promise<readonly KubeObject[]>
  /** An object of the resource's version as it is stored. The object is not changed. */
  toStorage(object: KubeObject): Promise<KubeObject>
}
