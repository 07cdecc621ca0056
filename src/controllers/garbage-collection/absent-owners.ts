/**
 * The owners that were found not to be there, the latest of them: their many dependents need not ask again. Uids never
 * come back.
 */
import type { Identity } from './graph/node.ts'

const most = 500

export class AbsentOwners {
  /** The one used last comes last. */
  readonly #keys = new Set<string>()

  add(owner: Identity): void {
    this.#touch(keyOf(owner))
    if (this.#keys.size > most) for (const oldest of this.#keys) return void this.#keys.delete(oldest)
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
