/** How plug-ins refuse a write: 403 on the object, also where its name is still to be generated. */
import { forbidden, type StatusError } from '../../machinery/status-error.ts'
import type { AdmissionAttributes } from './plugin.ts'

/** 403. `why` follows the colon. */
export const forbiddenWrite = ({ resource, name, object }: AdmissionAttributes, why: string): StatusError =>
  forbidden(resource.groupResource, name || object?.metadata.name || object?.metadata.generateName || 'Unknown', why)
