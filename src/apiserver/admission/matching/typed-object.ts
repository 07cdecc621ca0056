/** What a patch has made of an object, brought into the shape of its kind again: unknown fields dropped, defaults filled in. */
import type { KubeObject } from '../../../machinery/object.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { decodeAs } from '../../request/decode-as.ts'
import { objectOf } from '../../request/decode-object.ts'
import type { AdmissionAttributes } from '../plugin.ts'

/** The object is in the version of `resource`. Throws DecodeError for what is no such object. */
export function typedObject({ kind }: AdmissionAttributes, resource: ServedResource, patched: KubeObject): KubeObject {
  // Kinds of subresources are few and small: what is wrong in them is found where they are used.
  if (kind) return patched
  const { managedFields, ...metadata } = patched.metadata ?? {}
  const object = objectOf(resource, decodeAs(resource, { ...patched, metadata }).object)
  if (managedFields) object.metadata.managedFields = managedFields
  resource.applyDefaults(object)
  return object
}
