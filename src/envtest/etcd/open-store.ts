/**
 * The store that an `etcd` launcher stands for: in memory where it may be lost, else on the disk; its folder is etcd's
 * data directory.
 */
import { join } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'
import { acquire } from '../../storage/log/owner.ts'
import type { Store } from '../../storage/store.ts'

export interface StoreLocation {
  readonly dataDir: string
  /** In memory, and written down at the end: what `--unsafe-no-fsync` asks for. */
  readonly unsafeNoFsync: boolean
}

export interface OpenStore {
  readonly store: Store
  /** Writes down what is to be kept, and lets others open the directory. */
  close(): Promise<void>
}

/** Opens the store of a data directory. Rejects with a StoreOpenError if another process has it. */
export async function openStore({ dataDir, unsafeNoFsync }: StoreLocation): Promise<OpenStore> {
  try {
    makeDirectory(dataDir, 0o700)
  } catch (error) {
    throw new ExplainedError(
      `cannot keep data in ${dataDir}: ${reasonOf(error)}; choose another directory with --data-dir`,
      { cause: error },
    )
  }
  if (!unsafeNoFsync) {
    const { openLogStore } = await import('../../storage/log/index.ts')
    const store = await openLogStore({ directory: join(dataDir, 't8s') })
    return { store, close: () => store.close() }
  }
  const { keptMemoryStore } = await import('../../storage/memory/index.ts')
  const owner = acquire(dataDir)
  try {
    const store = keptMemoryStore(join(dataDir, 't8s-memory'))
    return { store, close: () => store.close().finally(() => owner.release()) }
  } catch (error) {
    owner.release()
    throw error
  }
}
