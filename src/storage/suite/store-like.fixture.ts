/** A store with faults and delays, for tests. */
import type { Store } from '../store.ts'

/** Returns a store that replaces some methods of `store`. */
export function storeLike(store: Store, other: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(Object.hasOwn(other, name) ? other : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
