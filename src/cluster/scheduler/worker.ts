/** The thread that the scheduler runs on: what its starter gives it is in `workerData`. */
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { giveBackMemory } from '../../lib/process/give-back-memory.ts'
import { stepBack } from '../../lib/process/step-back.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import type { ComponentReport, ThreadOrder } from '../threads/component-thread.ts'
import { beginScheduler } from './begin.ts'
import type { SchedulerTask } from './messages.ts'

const port = parentPort!
const tell = (report: ComponentReport): void => port.postMessage(report)
const running = beginScheduler(workerData as SchedulerTask, (log) => tell({ log }))
void running.synced.then(() => {
  flushCompileCache()
  tell({ synced: true })
})
stepBack()
giveBackMemory()
surviveErrors((line) => tell({ unhandled: line }))

port.on('message', (order: ThreadOrder) => {
  if ('ping' in order) tell({ alive: true })
  else void running.stop().then(() => port.close())
})
