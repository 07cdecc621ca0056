/** Tests that every store driver must pass. Each driver's test file runs them. */
import { describe } from 'node:test'
import { compaction } from './compaction.ts'
import { concurrency } from './concurrency.ts'
import { history } from './history.ts'
import { lifetime } from './lifetime.ts'
import { reads } from './reads.ts'
import { type OpenedStore, testsOn } from './support.ts'
import { transactions } from './transactions.ts'
import { watches } from './watches.ts'

export type { OpenedStore } from './support.ts'

/** Runs all tests against empty stores created by `open`. */
export function storeSuite(name: string, open: () => Promise<OpenedStore>): void {
  const on = testsOn(open)
  describe(name, () => {
    transactions(on)
    reads(on)
    watches(on)
    compaction(on)
    history(on)
    concurrency(on)
    lifetime(on)
  })
}
