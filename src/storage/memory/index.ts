/**
 * The store in memory: for tests and throw-away clusters. Nothing survives the process, but for what `kept.ts` writes
 * down when it ends.
 */
import type { Store } from '../store.ts'
import { MemoryStore } from './store.ts'

/** An empty store. Many may live side by side. */
export const memoryStore = (): Store => new MemoryStore()

export { keptMemoryStore } from './kept.ts'
