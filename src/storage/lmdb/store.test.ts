import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeSuite } from '../suite/index.ts'
import { openLmdbStore } from './index.ts'

storeSuite('the store on LMDB', async () => {
  const directory = await mkdtemp(join(tmpdir(), 't8s-store-'))
  let store = await openLmdbStore({ directory })
  return {
    store,
    reopen: async () => {
      await store.close()
      store = await openLmdbStore({ directory })
      return store
    },
    cleanup: async () => {
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
})
