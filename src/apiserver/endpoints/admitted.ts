/**
 * Runs admission for requests that write no object of the resource: reviews, bindings and evictions, and connections to
 * pods.
 */

import type { KubeObject } from '../../machinery/object.ts'
import { AdmissionChain } from '../admission/admission-chain.ts'
import type { AdmissionAttributes, GroupVersionKind } from '../registry/write/admission.ts'
import { attributes, type WriteContext } from '../registry/write/write-context.ts'

/** Admission for writes that follow from an admitted request and need no further checks. */
export const noAdmission = new AdmissionChain([])

/** Runs all plugins on `object`, which is of `kind`; mutating ones may change it. Throws a StatusError to reject. */
export async function admit(
  context: WriteContext,
  operation: AdmissionAttributes['operation'],
  object: KubeObject,
  kind: GroupVersionKind,
): Promise<void> {
  const { admission } = context
  const request = (): AdmissionAttributes => ({ ...attributes(context, operation, object), kind })
  await admission.mutate(request())
  await admission.validate(request())
}
