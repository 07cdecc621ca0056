/** The same object in another version, for managedFields entries that name fields of that version. */
import type { KubeObject } from '../../../machinery/object.ts'
import type { OtherVersion } from '../../apply/index.ts'
import type { ServedResource } from '../served-resource.ts'
import type { WriteContext } from './write-context.ts'

/** Undefined for resources whose versions all have the same fields. */
export function otherVersionOf({
  registry,
  resource,
}: Pick<WriteContext, 'registry' | 'resource'>): ((apiVersion: string) => OtherVersion | undefined) | undefined {
  if (resource.otherVersion) return resource.otherVersion
  const versions = registry.versions(resource)
  if (!versions) return undefined
  return (apiVersion) => {
    const version = versions.get(apiVersion)
    return version && { type: version.type, convert: (object) => converted(object, resource, version) }
  }
}

/** An object without metadata, the state before a create, is returned unchanged. */
function converted(object: object, from: ServedResource, to: ServedResource): object {
  if (!('metadata' in object)) return object
  const copy = structuredClone(object) as KubeObject
  const stored = from.definition.storedAs?.toStorage?.(copy) ?? copy
  return to.definition.storedAs?.fromStorage?.(stored) ?? stored
}
