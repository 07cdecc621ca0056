/** The variables of expressions that describe a request. */
import { namespaceType, requestType } from '../../../cel/admission/environment.ts'
import { adapt, type Bindings } from '../../../cel/index.ts'
import { dynType } from '../../../cel/types.ts'
import type { Value } from '../../../cel/values.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { admissionRequest } from './request.ts'
import type { VersionedObjects } from './versions.ts'

/** `object`, `oldObject`, `request` and `namespaceObject`; null if missing. */
export function requestBindings(
  attributes: AdmissionAttributes,
  objects: VersionedObjects,
  namespace: KubeObject | undefined,
): Bindings {
  return {
    object: objectBinding(objects.object),
    oldObject: objectBinding(objects.old),
    request: adapt(withEmptyFields(admissionRequest(attributes, objects)), requestType),
    namespaceObject: adapt(namespace ?? null, namespaceType),
  }
}

/** An object of any kind as a value; null if undefined. */
export const objectBinding = (object: KubeObject | undefined): Value => adapt(object ?? null, dynType)

/** Expressions also see the fields that Go's struct always has. */
const withEmptyFields = (request: Record<string, unknown>): Record<string, unknown> => ({
  name: '',
  namespace: '',
  subResource: '',
  ...request,
})
