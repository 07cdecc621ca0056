/** The objects of a request in the version that a webhook or policy requires. */
import { after } from '../../../lib/flow/after.ts'
import { setOwn } from '../../../lib/own.ts'
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes, GroupVersionKind } from '../../registry/write/admission.ts'

export interface VersionedObjects {
  readonly resource: ServedResource
  readonly kind: GroupVersionKind
  readonly object: KubeObject | undefined
  readonly old: KubeObject | undefined
}

/** The kind of the request as received. */
export const kindOf = ({ kind, resource }: AdmissionAttributes): GroupVersionKind => kind ?? resource.definition

/** Returns the request's objects in the version of `resource`. Rejects with an Error if a conversion webhook fails. */
export function versioned(
  attributes: AdmissionAttributes,
  resource: ServedResource,
): VersionedObjects | Promise<VersionedObjects> {
  const { object, old, kind } = attributes
  if (resource === attributes.resource || kind) return { resource, kind: kind ?? resource.definition, object, old }
  return after(inVersion(object, attributes.resource, resource), (shown) =>
    after(inVersion(old, attributes.resource, resource), (before) => ({
      resource,
      kind: resource.definition,
      object: shown,
      old: before,
    })),
  )
}

/** Returns the object in another version. Rejects with an Error as `versioned` does. */
export function inVersion(
  object: KubeObject | undefined,
  from: ServedResource,
  to: ServedResource,
): KubeObject | undefined | Promise<KubeObject | undefined> {
  if (!object || from === to) return object
  if (from.definition.custom) {
    const converted = from.otherVersion?.(to.groupVersion)?.convert(object) ?? {
      ...object,
      apiVersion: to.groupVersion,
    }
    return converted as KubeObject | Promise<KubeObject>
  }
  const stored = from.definition.storedAs?.toStorage?.(structuredClone(object)) ?? object
  const shown = to.definition.storedAs?.fromStorage?.(stored === object ? structuredClone(object) : stored) ?? {
    ...stored,
  }
  shown.apiVersion = to.groupVersion
  shown.kind = to.definition.kind
  return shown
}

/** Replaces all fields of `object` in place, so that holders of the object see the change. */
export function replaceContent(object: KubeObject, content: KubeObject): void {
  const fields = object as Unstructured
  for (const name of Object.keys(fields)) if (!Object.hasOwn(content, name)) delete fields[name]
  for (const name of Object.keys(content)) setOwn(fields, name, (content as Unstructured)[name])
}
