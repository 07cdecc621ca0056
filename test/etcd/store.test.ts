/** The store's tests, in a real etcd: alone and as a cluster of three. */
import { after, before, describe } from 'node:test'
import { openEtcdStore } from '../../src/storage/etcd/index.ts'
import { ShiftedStore } from '../../src/storage/suite/shifted-store.fixture.ts'
import { type OpenedStore, storeSuite } from '../../src/storage/suite/store-suite.fixture.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'

for (const members of [1, 3]) {
  describe(`etcd with ${members} members`, { skip: withoutEtcd }, () => {
    let servers: readonly string[] = []
    let parts = 0
    let stop: () => unknown = () => {}
    before(() => {
      servers = startEtcd({ after: (ended) => (stop = ended) }, { members }).map(({ url }) => url)
    })
    after(() => stop())
    storeSuite(`the store in etcd with ${members} members`, async (): Promise<OpenedStore> => {
      const prefix = `/t${++parts}`
      let store = await openEtcdStore({ servers })
      const base = await store.currentRevision()
      return {
        store: new ShiftedStore(store, prefix, base),
        async reopen() {
          await store.close()
          store = await openEtcdStore({ servers })
          return new ShiftedStore(store, prefix, base)
        },
        // After such transactions, etcd 3.4 takes 0.2 ms for each previous value.
        longHistory: 3,
        cleanup: () => store.close(),
      }
    })
  })
}
