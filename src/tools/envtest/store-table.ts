/** The open stores of the shared process, by the URLs of their `etcd` launchers. */
import type { Store } from '../../storage/store.ts'

export class StoreTable {
  readonly #stores = new Map<string, Store>()

  /** Adds a store. Returns a function that removes it. */
  add(urls: readonly URL[], store: Store): () => void {
    const keys = urls.map(keyOf)
    for (const key of keys) this.#stores.set(key, store)
    return () => {
      for (const key of keys) if (this.#stores.get(key) === store) this.#stores.delete(key)
    }
  }

  find(url: string): Store | undefined {
    return URL.canParse(url) ? this.#stores.get(keyOf(new URL(url))) : undefined
  }
}

const local = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]'])

/** Treats all names of this machine as equal. */
const keyOf = ({ hostname, port }: URL): string => `${local.has(hostname) ? 'localhost' : hostname}:${port || 80}`
