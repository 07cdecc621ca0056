/** The entry of the thread of the controllers: it lowers its priority before it loads the code. */
import { lowerThreadPriority } from '../../lib/process/thread-priority.ts'

lowerThreadPriority()
await import('./run-worker.ts')
