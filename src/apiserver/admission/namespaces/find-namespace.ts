/** Looks up a namespace in memory first, then in the store. */
import { after } from '../../../lib/flow/after.ts'
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
  const key = namespaces.key('', name)
  return after(registry.get(namespaces, key), (found) => found ?? registry.newest(namespaces, key))
}
