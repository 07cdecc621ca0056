/** The thread of the real node. It loads its code, and starts when its task arrives. */
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../../lib/message-of.ts'
import { releaseMemoryWhenIdle } from '../../../lib/process/memory/release-memory.ts'
import { surviveErrors } from '../../../lib/process/unhandled-errors.ts'
import type { LateTaskCommand } from '../../threads/component-thread.ts'
import type { EarlyTask, RealNodeTask, Report } from './messages.ts'
import { type RunningNode, startRealNode } from './start.ts'

const port = parentPort!
const post = (report: Report): void => port.postMessage(report)
let starting: Promise<RunningNode> | undefined

async function start(task: RealNodeTask): Promise<void> {
  starting = startRealNode(task, (line) => post({ log: line }))
  try {
    await (await starting).started
    flushCompileCache()
    post({ synced: true })
  } catch (error) {
    post({ failed: messageOf(error) })
  }
}

async function stop(): Promise<void> {
  await (await starting?.catch(() => undefined))?.stop()
}

// An import that fails is an error of the start.
if ((workerData as EarlyTask).isEmbedded)
  Promise.all([import('../../../runtime/standalone-runtime.ts'), import('../../policy/embedded-policy.ts')]).catch(
    () => {},
  )
releaseMemoryWhenIdle()
surviveErrors((line) => post({ unhandled: line }))
port.on('message', (order: LateTaskCommand<RealNodeTask>) => {
  if ('task' in order) void start(order.task)
  else if (order.stop) void stop().finally(() => port.close())
})
