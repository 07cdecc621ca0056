/** The entry of the thread of the controllers: it lowers its priority before it loads the code. */
import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../lib/process/thread-priority.ts'
import type { ControllerTask } from './messages.ts'

lowerThreadPriority()
const { runControllersThread } = await import('./controllers-thread.ts')
runControllersThread(parentPort!, workerData as ControllerTask)
