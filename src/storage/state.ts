/** All entries of a store at one revision: what snapshots save, and what is copied from one store to another. */
import type { Entry, KeyRange, Store } from './store.ts'

export interface StoreState {
  readonly revision: number
  /** Entries in portions, in the order of their keys. */
  portions(): AsyncIterable<readonly Entry[]>
}

/** The range of all keys. */
export const everything: KeyRange = { start: '', end: '\u{10ffff}' }

const entriesPerPortion = 500

/** Yields the entries of a range at a revision. Throws CompactedError. */
export async function* portionsAt(store: Store, range: KeyRange, revision: number): AsyncGenerator<readonly Entry[]> {
  for (let { start } = range; ; ) {
    const { entries, more } = await store.list({ ...range, start, limit: entriesPerPortion, revision })
    yield entries
    if (!more) return
    start = `${entries.at(-1)!.key}\0`
  }
}
