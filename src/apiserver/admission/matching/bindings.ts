/** The values that expressions see of a request. */
import { namespaceType, requestType } from '../../../cel/admission/environment.ts'
import { adapt, type Bindings } from '../../../cel/index.ts'
import { dynType } from '../../../cel/types.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { AdmissionAttributes } from '../plugin.ts'
import { admissionRequest } from './request.ts'
import type { VersionedObjects } from './versions.ts'

/** `object`, `oldObject`, `request` and `namespaceObject`; what is not there is null. */
export function requestBindings(attributes: AdmissionAttributes, objects: VersionedObjects, namespace: KubeObject | undefined): Bindings {
  return {
    object: adapt(objects.object ?? null, dynType),
    oldObject: adapt(objects.old ?? null, dynType),
    request: adapt(withEmptyFields(admissionRequest(attributes, objects)), requestType),
    namespaceObject: adapt(namespace ?? null, namespaceType),
  }
}

/** What Go's structure always has is there for expressions, too. */
const withEmptyFields = (request: Record<string, unknown>): Record<string, unknown> => ({ name: '', namespace: '', subResource: '', ...request })
