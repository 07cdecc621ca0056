/**
 * Snapshots of ranges that are being listed in pages: later pages show the state of the first page. They are arrays of
 * references, which retain old objects in memory: there are few, and they expire soon. A page that comes too late reads
 * the store's history instead.
 */
import type { StoredObject } from '../../stored-object.ts'

const maxSnapshots = 8
const maxAgeMs = 30_000

export class Snapshots {
  readonly #snapshots = new Map<string, { readonly objects: readonly StoredObject[]; readonly taken: number }>()
  #sweeping = false

  remember(rangeStart: string, revision: number, objects: readonly StoredObject[]): void {
    const key = `${rangeStart}@${revision}`
    this.#snapshots.delete(key)
    this.#snapshots.set(key, { objects, taken: performance.now() })
    if (this.#snapshots.size > maxSnapshots) this.#snapshots.delete(this.#snapshots.keys().next().value!)
    if (!this.#sweeping) this.#sweepLater()
  }

  find(rangeStart: string, revision: number): readonly StoredObject[] | undefined {
    return this.#snapshots.get(`${rangeStart}@${revision}`)?.objects
  }

  #sweepLater(): void {
    this.#sweeping = true
    setTimeout(() => {
      this.#sweeping = false
      const now = performance.now()
      for (const [key, { taken }] of this.#snapshots) if (now - taken >= maxAgeMs) this.#snapshots.delete(key)
      if (this.#snapshots.size > 0) this.#sweepLater()
    }, maxAgeMs).unref()
  }
}
