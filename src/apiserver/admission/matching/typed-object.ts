/** Decodes a patched object as its kind again: drops unknown fields and applies defaults. */
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../../machinery/object.ts'
import { managedFieldsFault } from '../../apply/index.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { decodeAs } from '../../request/bodies/decode-as.ts'
import { objectOf } from '../../request/bodies/decode-object.ts'

/**
 * The object is in the version of `resource`; `before` is the object before the patch. Throws DecodeError for an
 * invalid object and, if `strict`, an Error for unknown fields.
 */
export function typedObject(
  { kind, warn }: AdmissionAttributes,
  resource: ServedResource,
  patched: KubeObject,
  before: KubeObject,
  { strict = false }: { readonly strict?: boolean } = {},
): KubeObject {
  // Kinds of subresources are few and small: errors in them are found where they are used.
  if (kind) return patched
  const { managedFields: _, ...metadata } = patched.metadata ?? {}
  const decoded = decodeAs(resource, { ...patched, metadata })
  // Unknown fields of custom resources are pruned, not rejected.
  if (strict && !resource.definition.custom && decoded.strict.length > 0)
    throw new Error(`strict decoding error: ${decoded.strict.join(', ')}`)
  const object = objectOf(resource, decoded.object)
  const managedFields = readableManagedFields(patched, before, warn)
  if (managedFields) object.metadata.managedFields = managedFields
  resource.applyDefaults(object)
  return object
}

/** Invalid managedFields would break later writes: the old ones remain. */
function readableManagedFields(
  { metadata }: KubeObject,
  before: KubeObject,
  warn: (text: string) => void,
): ManagedFieldsEntry[] | undefined {
  const entries = metadata?.managedFields
  const known = before.metadata.managedFields
  if (entries === known || jsonEqual(entries, known)) return known
  const fault = managedFieldsFault(entries)
  if (fault === undefined) return entries
  warn(
    '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated ' +
      `mutating admission controller; please fix your requests: ${fault}`,
  )
  return known
}
