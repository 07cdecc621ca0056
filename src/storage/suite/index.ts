/** What holds for every store, whatever its driver. Each driver's test runs it. */
import { describe } from 'node:test'
import { compaction } from './compaction.ts'
import { history } from './history.ts'
import { interference } from './interference.ts'
import { lifetime } from './lifetime.ts'
import { reads } from './reads.ts'
import { type OpenedStore, testsOn } from './support.ts'
import { transactions } from './transactions.ts'
import { watches } from './watches.ts'

export type { OpenedStore } from './support.ts'

/** Runs all tests against stores made by `open`, each of which starts empty. */
export function storeSuite(name: string, open: () => Promise<OpenedStore>): void {
  const on = testsOn(open)
  describe(name, () => {
    transactions(on)
    reads(on)
    watches(on)
    compaction(on)
    history(on)
    interference(on)
    lifetime(on)
  })
}
