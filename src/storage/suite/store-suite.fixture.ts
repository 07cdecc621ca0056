/** Tests that every store driver must pass. Each driver's test file runs them. */
import { describe } from 'node:test'
import { compaction } from './compaction.fixture.ts'
import { concurrency } from './concurrency.fixture.ts'
import { history } from './history.fixture.ts'
import { lifetime } from './lifetime.fixture.ts'
import { reads } from './reads.fixture.ts'
import { type OpenedStore, testsOn } from './support.fixture.ts'
import { transactions } from './transactions.fixture.ts'
import { watches } from './watches.fixture.ts'

export type { OpenedStore } from './support.fixture.ts'

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
