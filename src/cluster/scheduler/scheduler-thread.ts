/** The thread of the scheduler. */
import { flushCompileCache } from 'node:module'
import type { MessagePort } from 'node:worker_threads'
import { ClockMemory } from '../../lib/clock/clock-memory.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { releaseMemoryWhenIdle } from '../../lib/process/memory/release-memory.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import type { ComponentReport, ThreadCommand } from '../threads/component-thread.ts'
import type { SchedulerTask } from './messages.ts'
import { startScheduler } from './start.ts'

/** Runs in the calling thread until a message of `port` stops it. */
export function runSchedulerThread(port: MessagePort, task: SchedulerTask): void {
  const post = (report: ComponentReport): void => port.postMessage(report)
  const clock = new MovableClock(new ClockMemory(task.clockBuffer))
  const running = startScheduler(task, clock, (log) => post({ log }))
  void running.synced.then(() => {
    flushCompileCache()
    post({ synced: true })
  })
  releaseMemoryWhenIdle()
  surviveErrors((line) => post({ unhandled: line }))

  function end(): void {
    clock.stop()
    port.close()
  }

  port.on('message', (order: ThreadCommand) => {
    if ('ping' in order) post({ alive: true })
    else void running.stop().then(end)
  })
}
