/** The thread of the controllers: the starting thread sends its options, and signs tokens. */
import { flushCompileCache } from 'node:module'
import type { MessagePort } from 'node:worker_threads'
import { ClockMemory } from '../../lib/clock/clock-memory.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { reasonOf } from '../../lib/explained-error.ts'
import { releaseMemoryWhenIdle } from '../../lib/process/memory/release-memory.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import type { Claims, ControllerCommand, ControllerTask, Report } from './messages.ts'
import { runTask } from './run-task.ts'

interface Signing {
  readonly resolve: (token: string) => void
  readonly reject: (error: Error) => void
}

/** Runs in the calling thread until a message of `port` stops it. */
export function runControllersThread(port: MessagePort, task: ControllerTask): void {
  const post = (report: Report): void => port.postMessage(report)
  const signing = new Map<number, Signing>()
  let signed = 0

  function signToken(claims: Claims): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    signing.set(++signed, { resolve, reject })
    post({ sign: signed, claims })
    return promise
  }

  const clock = new MovableClock(new ClockMemory(task.clockBuffer))
  const begun = runTask(task, clock, signToken, (line) => post({ log: line }))
  begun.then(
    ({ synced }) => {
      post({ begun: true })
      void synced.then(() => {
        flushCompileCache()
        post({ synced: true })
      })
    },
    (error) => post({ failed: reasonOf(error) }),
  )
  releaseMemoryWhenIdle()
  surviveErrors((line) => post({ unhandled: line }))

  function end(): void {
    clock.stop()
    port.close()
  }

  port.on('message', (order: ControllerCommand) => {
    if ('stop' in order) {
      void begun.then(({ stop }) => stop()).finally(end)
      return
    }
    if ('ping' in order) {
      post({ alive: true })
      return
    }
    const pending = signing.get(order.signed)
    signing.delete(order.signed)
    if ('token' in order) pending?.resolve(order.token)
    else pending?.reject(new Error(order.error))
  })
}
