/** Whether there is a namespace: as memory has it, and where that has none, as the store has it. */
import { after } from '../../../lib/flow/after.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'

/**
 * Undefined if there is none. A promise only where memory does not know it: another server may have made it just now.
 */
export function findNamespace(
  registry: Registry,
  namespaces: ServedResource,
  name: string,
): StoredObject | undefined | Promise<StoredObject | undefined> {
  const key = namespaces.key('', name)
  return after(registry.get(namespaces, key), (found) => found ?? registry.newest(namespaces, key))
}
