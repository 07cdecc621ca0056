import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeSuite } from '../suite/index.ts'
import { openEnvironment } from './environment.ts'
import { type Limits, LmdbStore } from './store.ts'

function suite(name: string, limits?: Limits): void {
  storeSuite(name, async () => {
    const directory = await mkdtemp(join(tmpdir(), 't8s-store-'))
    const open = async () => new LmdbStore(await openEnvironment(directory), limits)
    let store = await open()
    return {
      store,
      reopen: async () => {
        await store.close()
        store = await open()
        return store
      },
      cleanup: async () => {
        await store.close()
        await rm(directory, { recursive: true })
      },
    }
  })
}

suite('the store on LMDB')
suite('the store on LMDB, with more keys than it remembers', { knownKeys: 1, versionsAtOpen: 0 })
suite('the store on LMDB, forgetting what it knew', { knownKeys: 3, versionsAtOpen: 5 })
