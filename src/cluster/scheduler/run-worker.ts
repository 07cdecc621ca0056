/** The thread of the scheduler. Its options are in `workerData`. */
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { releaseMemoryWhenIdle } from '../../lib/process/release-memory.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import type { ComponentReport, ThreadCommand } from '../threads/component-thread.ts'
import type { SchedulerTask } from './messages.ts'
import { startScheduler } from './start.ts'

const port = parentPort!
const post = (report: ComponentReport): void => port.postMessage(report)
const running = startScheduler(workerData as SchedulerTask, (log) => post({ log }))
void running.synced.then(() => {
  flushCompileCache()
  post({ synced: true })
})
releaseMemoryWhenIdle()
surviveErrors((line) => post({ unhandled: line }))

port.on('message', (order: ThreadCommand) => {
  if ('ping' in order) post({ alive: true })
  else void running.stop().then(() => port.close())
})
