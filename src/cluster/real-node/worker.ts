/** The thread of the real node. Its options are in `workerData`. */
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../lib/message-of.ts'
import { releaseMemoryWhenIdle } from '../../lib/process/release-memory.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import type { StopCommand } from '../threads/component-thread.ts'
import type { RealNodeTask, Report } from './messages.ts'
import { startRealNode } from './start.ts'

const port = parentPort!
const post = (report: Report): void => port.postMessage(report)

const starting = startRealNode(workerData as RealNodeTask, (line) => post({ log: line }))
starting
  .then(({ started }) => started)
  .then(
    () => {
      flushCompileCache()
      post({ synced: true })
    },
    (error: unknown) => post({ failed: messageOf(error) }),
  )
releaseMemoryWhenIdle()
surviveErrors((line) => post({ unhandled: line }))

port.on('message', (order: StopCommand) => {
  const stop = async (): Promise<void> => (await starting.catch(() => undefined))?.stop()
  if (order.stop) void stop().finally(() => port.close())
})
