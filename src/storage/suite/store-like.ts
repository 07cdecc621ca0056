/** A store whose faults and delays a test chooses. */
import type { Store } from '../store.ts'

/** A store that does as `store` does but for some methods. */
export function storeLike(store: Store, other: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(Object.hasOwn(other, name) ? other : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
