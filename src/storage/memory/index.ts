/** The store in memory: for tests and throw-away clusters. Nothing survives the process. */
import type { Store } from '../store.ts'
import { MemoryStore } from './store.ts'

/** An empty store. Many may live side by side. */
export const memoryStore = (): Store => new MemoryStore()
