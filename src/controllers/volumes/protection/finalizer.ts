/** Protection controllers add their finalizer to objects that lack it. */
import { hasFinalizer } from '../../../client/objects/finalizers.ts'
import type { KubeObject } from '../../../machinery/object.ts'

/**
 * Returns true if a live object lacks the finalizer. A deleted one must not get it, as finalizers may not be added
 * then.
 */
export const lacksFinalizer = (object: KubeObject, finalizer: string): boolean =>
  !object.metadata.deletionTimestamp && !hasFinalizer(object, finalizer)
