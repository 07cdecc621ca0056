/** The store in memory, for tests and disposable clusters. Only `persistent.ts` saves its content when it closes. */
import type { Clock } from '../../lib/clock/clock.ts'
import type { Store } from '../store.ts'
import { MemoryStore } from './store.ts'

/** Creates an empty store, whose times to live follow the clock (default: the machine's). A process may have many. */
export const memoryStore = (clock?: Clock): Store => new MemoryStore(undefined, clock)

export { persistentMemoryStore as keptMemoryStore } from './persistent.ts'
