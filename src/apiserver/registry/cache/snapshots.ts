/**
 * Snapshots of ranges that lists are being paged through: later pages show what was there when the first was read.
 * They are arrays of references; a page that comes too late reads the store's history instead.
 */
import type { StoredObject } from '../stored-object.ts'

const kept = 32
const maxAgeMs = 60_000

export class Snapshots {
  readonly #snapshots = new Map<string, { readonly objects: readonly StoredObject[]; readonly taken: number }>()

  remember(rangeStart: string, revision: number, objects: readonly StoredObject[]): void {
    const now = performance.now()
    this.#snapshots.delete(`${rangeStart}@${revision}`)
    this.#snapshots.set(`${rangeStart}@${revision}`, { objects, taken: now })
    for (const [key, { taken }] of this.#snapshots) {
      if (this.#snapshots.size <= kept && now - taken < maxAgeMs) break
      this.#snapshots.delete(key)
    }
  }

  find(rangeStart: string, revision: number): readonly StoredObject[] | undefined {
    return this.#snapshots.get(`${rangeStart}@${revision}`)?.objects
  }
}
