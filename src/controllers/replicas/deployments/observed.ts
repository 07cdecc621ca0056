import type { ObjectMeta } from '../../../machinery/object.ts'

/** Returns true if status.observedGeneration covers the current spec. */
export const isObserved = ({
  metadata,
  status,
}: {
  readonly metadata: ObjectMeta
  readonly status?: { readonly observedGeneration?: number }
}): boolean => (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
