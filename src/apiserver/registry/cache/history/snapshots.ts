/**
 * Snapshots of ranges that lists are being paged through: later pages show what was there when the first was read.
 * They are arrays of references, which keep old states in memory: few, and not for long. A page that comes too late
 * reads the store's history instead.
 */
import type { StoredObject } from '../../stored-object.ts'

const kept = 8
const maxAgeMs = 30_000

export class Snapshots {
  readonly #snapshots = new Map<string, { readonly objects: readonly StoredObject[]; readonly taken: number }>()
  #sweeping = false

  remember(rangeStart: string, revision: number, objects: readonly StoredObject[]): void {
    const key = `${rangeStart}@${revision}`
    this.#snapshots.delete(key)
    this.#snapshots.set(key, { objects, taken: performance.now() })
    if (this.#snapshots.size > kept) this.#snapshots.delete(this.#snapshots.keys().next().value!)
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
