/** Tests that every store driver must pass. Each driver's test file runs them. */
import { describe, test } from 'node:test'
import { compaction } from './compaction.fixture.ts'
import { concurrency } from './concurrency.fixture.ts'
import { expiry } from './expiry.fixture.ts'
import { failures } from './failures.fixture.ts'
import { history } from './history.fixture.ts'
import { lifetime } from './lifetime.fixture.ts'
import { reads } from './reads.fixture.ts'
import type { OpenedStore } from './support.fixture.ts'
import { transactions } from './transactions.fixture.ts'
import { watches } from './watches.fixture.ts'

export type { OpenedStore } from './support.fixture.ts'

const subjects = [transactions, reads, watches, compaction, history, expiry, concurrency, failures, lifetime]

/** Runs all tests against empty stores created by `open`. */
export function storeSuite(name: string, open: () => Promise<OpenedStore>): void {
  describe(name, () => {
    for (const behaviours of subjects)
      for (const [behaviour, run] of Object.entries(behaviours))
        void test(behaviour, async () => {
          const opened = await open()
          try {
            await run(opened.store, opened)
          } finally {
            await opened.cleanup()
          }
        })
  })
}
