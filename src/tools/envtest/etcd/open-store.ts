/** The store of an `etcd` launcher, in memory or on disk, in etcd's data directory. */
import { join } from 'node:path'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { makeDirectory } from '../../../lib/files/make-directory.ts'
import { acquire } from '../../../storage/log/owner.ts'
import type { Store } from '../../../storage/store.ts'

export interface StoreLocation {
  readonly dataDir: string
  /** True to hold the data in memory and write it at the end (`--unsafe-no-fsync`). */
  readonly unsafeNoFsync: boolean
}

export interface OpenStore {
  readonly store: Store
  /** Writes the data and releases the directory. */
  close(): Promise<void>
}

/** Opens the store of a data directory. Rejects with a StoreOpenError if another process has it. */
export async function openStore({ dataDir, unsafeNoFsync }: StoreLocation): Promise<OpenStore> {
  try {
    makeDirectory(dataDir, 0o700)
  } catch (error) {
    throw new ExplainedError(
      `cannot store data in ${dataDir}: ${reasonOf(error)}; choose another directory with --data-dir`,
      { cause: error },
    )
  }
  if (!unsafeNoFsync) {
    const { openLogStore } = await import('../../../storage/log/index.ts')
    const store = await openLogStore({ directory: join(dataDir, 't8s') })
    return { store, close: () => store.close() }
  }
  const { keptMemoryStore } = await import('../../../storage/memory/index.ts')
  const owner = acquire(dataDir)
  try {
    const store = keptMemoryStore(join(dataDir, 't8s-memory'))
    return { store, close: () => store.close().finally(() => owner.release()) }
  } catch (error) {
    owner.release()
    throw error
  }
}
