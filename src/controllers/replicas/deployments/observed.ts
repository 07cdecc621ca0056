import type { ObjectMeta } from '../../../machinery/object.ts'

/** Whether a status was written by who had seen what is asked for now. */
export const isObserved = ({
  metadata,
  status,
}: {
  readonly metadata: ObjectMeta
  readonly status?: { readonly observedGeneration?: number }
}): boolean => (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
