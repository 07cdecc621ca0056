/** Fixtures for the tests of this folder: ConfigMaps in a store, and the contents of a view of them. */
import { allResources } from '../../../api/registry.ts'
import { resourceKey } from '../../../api/resource.ts'
import type { Store } from '../../../storage/store.ts'
import { Registry } from '../registry.ts'
import type { ServedResource } from '../served-resource.ts'
import type { CacheView } from './cache-view.ts'

export const turn = (): Promise<void> => new Promise(setImmediate)

export interface Fixture {
  readonly registry: Registry
  readonly resource: ServedResource
  readonly logged: string[]
  /** Writes the ConfigMap of this name directly to the store, not through the registry. */
  put(name: string, text?: string): Promise<unknown>
  remove(name: string): Promise<unknown>
}

/** A registry on a store. */
export function fixture(store: Store): Fixture {
  const logged: string[] = []
  const registry = new Registry(store, allResources, (line) => logged.push(line))
  const resource = registry.served(allResources.find((definition) => resourceKey(definition) === 'v1/configmaps')!)
  const key = (name: string) => resource.key('default', name)
  return {
    registry,
    resource,
    logged,
    put: (name, text = '') =>
      store.commit({
        conditions: [],
        operations: [
          { key: key(name), value: Buffer.from(`${resource.headText}"name":"${name}"},"data":{"k":"${text}"}}`) },
        ],
      }),
    remove: (name) => store.commit({ conditions: [], operations: [{ key: key(name), delete: true }] }),
  }
}

/** `name revision` of each object in a view. */
export const shownBy = (view: CacheView): string[] =>
  view.objects.slice(view.resource.range('')).map(({ name, revision }) => `${name} ${revision}`)

/** The same, read from the store at a revision. */
export async function truthAt(store: Store, resource: ServedResource, revision: number): Promise<string[]> {
  const { entries } = await store.list({ ...resource.range(''), revision })
  return entries.map((entry) => `${entry.key.slice(entry.key.lastIndexOf('/') + 1)} ${entry.revision}`)
}
