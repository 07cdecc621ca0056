/** The store on disk, in one file. */
import type { Store } from '../store.ts'
import { openEnvironment } from './environment.ts'
import { LmdbStore } from './store.ts'

export interface LmdbStoreOptions {
  /** The store's folder; made if it is missing. */
  readonly directory: string
}

/**
 * Opens the directory's store, or makes one. This process is its only user until it is closed or the process ends.
 * Rejects with StoreOpenError if another process has it, or if what lies there is damaged or not a store.
 */
export async function openLmdbStore({ directory }: LmdbStoreOptions): Promise<Store> {
  return new LmdbStore(await openEnvironment(directory))
}
