/** LRU cache of missing owners, so that each is looked up once for its many dependents. Uids are never reused. */
import type { Identity } from './graph/node.ts'

const maxEntries = 500

export class AbsentOwners {
  /** Ordered by use, most recent last. */
  readonly #keys = new Set<string>()

  add(owner: Identity): void {
    this.#touch(keyOf(owner))
    if (this.#keys.size > maxEntries) for (const oldest of this.#keys) return void this.#keys.delete(oldest)
  }

  has(owner: Identity): boolean {
    const key = keyOf(owner)
    if (!this.#keys.has(key)) return false
    this.#touch(key)
    return true
  }

  #touch(key: string): void {
    this.#keys.delete(key)
    this.#keys.add(key)
  }
}

const keyOf = ({ apiVersion, kind, namespace, name, uid }: Identity): string =>
  [apiVersion, kind, namespace, name, uid].join(' ')
