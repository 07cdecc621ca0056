/** Admission of what is no write of an object: questions (reviews), bindings and evictions, and connections to pods. */

import type { KubeObject } from '../../machinery/object.ts'
import { AdmissionChain } from '../admission/admission-chain.ts'
import type { AdmissionAttributes, GroupVersionKind } from '../registry/write/admission.ts'
import { attributes, type WriteContext } from '../registry/write/write-context.ts'

/** For what follows from something that was admitted, and is not asked about again. */
export const admitted = new AdmissionChain([])

/**
 * Asks all plug-ins about `object`, which is of `kind`; mutating ones may change it. Throws a StatusError to refuse.
 */
export async function admit(
  context: WriteContext,
  operation: AdmissionAttributes['operation'],
  object: KubeObject,
  kind: GroupVersionKind,
): Promise<void> {
  const { admission } = context
  const asked = (): AdmissionAttributes => ({ ...attributes(context, operation, object), kind })
  await admission.mutate(asked())
  await admission.validate(asked())
}
