/** The stores that the shared process has open, by the URLs of the `etcd` launchers that stand for them. */
import type { Store } from '../storage/store.ts'

export class StoreTable {
  readonly #stores = new Map<string, Store>()

  /** Gives what takes the store out again. */
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

/** Names of this machine are one. */
const keyOf = ({ hostname, port }: URL): string => `${local.has(hostname) ? 'localhost' : hostname}:${port || 80}`
