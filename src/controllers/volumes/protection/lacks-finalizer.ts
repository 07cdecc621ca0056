/** Who protects an object puts its finalizer back when somebody has taken it away, or when it was made without. */
import { hasFinalizer } from '../../../client/objects/finalizers.ts'
import type { KubeObject } from '../../../machinery/object.ts'

/** Not for one that is deleted: it would never go. */
export const lacksFinalizer = (object: KubeObject, finalizer: string): boolean =>
  !object.metadata.deletionTimestamp && !hasFinalizer(object, finalizer)
