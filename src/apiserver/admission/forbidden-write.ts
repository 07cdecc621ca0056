/** How plug-ins refuse a write: 403 on the object, also where its name is still to be generated. */
import type { KubeObject } from '../../machinery/object.ts'
import { forbidden, type StatusError } from '../../machinery/status-error.ts'
import type { AdmissionAttributes } from '../registry/write/admission.ts'

/** 403. `why` follows the colon. */
export const forbiddenWrite = (attributes: AdmissionAttributes, why: string): StatusError =>
  forbidden(attributes.resource.groupResource, attributes.name || nameOf(attributes.object), why)

/** Upstream's words for what has no name yet, and for what never will. */
function nameOf(object: Partial<KubeObject> | undefined): string {
  if (!object) return 'Unknown'
  const { metadata } = object
  return metadata ? metadata.name || metadata.generateName || 'Unknown' : 'Unknown/errorGettingName'
}
