/** The store in memory, for tests and disposable clusters. Only `persistent.ts` saves its content when it closes. */
import type { Store } from '../store.ts'
import { MemoryStore } from './store.ts'

/** Creates an empty store. A process may have many. */
export const memoryStore = (): Store => new MemoryStore()

export { persistentMemoryStore as keptMemoryStore } from './persistent.ts'
