/** The entry of the thread of the scheduler: it lowers its priority before it loads the code. */
import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../lib/process/thread-priority.ts'
import type { SchedulerTask } from './messages.ts'

lowerThreadPriority()
const { runSchedulerThread } = await import('./scheduler-thread.ts')
runSchedulerThread(parentPort!, workerData as SchedulerTask)
