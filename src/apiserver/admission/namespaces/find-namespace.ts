/** Looks up a namespace in memory first, then in the store. */
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'

/**
 * Returns undefined for a missing namespace. Returns a promise only if memory does not have it: another server may have
 * created it just now.
 */
export function findNamespace(
  registry: Registry,
  namespaces: ServedResource,
  name: string,
): StoredObject | undefined | Promise<StoredObject | undefined> {
  return registry.lookUp(namespaces, namespaces.key('', name))
}
