/** Finalizers of objects that controllers let go. */
import type { KubeObject } from '../../../machinery/object.ts'

/** The object as it is written to take a finalizer away. */
export const withoutFinalizer = <T extends KubeObject>(object: T, finalizer: string): T => ({
  ...object,
  metadata: { ...object.metadata, finalizers: (object.metadata.finalizers ?? []).filter((name) => name !== finalizer) },
})
