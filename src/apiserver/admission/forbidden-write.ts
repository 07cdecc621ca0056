/** The error with which plug-ins reject a write: 403 for the object, even before its name is generated. */
import type { KubeObject } from '../../machinery/object.ts'
import { forbidden, type StatusError } from '../../machinery/status-error.ts'
import type { AdmissionAttributes } from '../registry/write/admission.ts'

/** A 403. `why` follows the colon. */
export const forbiddenWrite = (attributes: AdmissionAttributes, why: string): StatusError =>
  forbidden(attributes.resource.groupResource, attributes.name || nameOf(attributes.object), why)

/** Upstream's texts for an object without a name yet, and for one that can have none. */
function nameOf(object: Partial<KubeObject> | undefined): string {
  if (!object) return 'Unknown'
  const { metadata } = object
  return metadata ? metadata.name || metadata.generateName || 'Unknown' : 'Unknown/errorGettingName'
}
