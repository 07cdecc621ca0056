/** Runs controllers on a thread of their own, so that they do not delay requests. This thread signs their tokens. */
import type { Worker } from 'node:worker_threads'
import { ExplainedError } from '../../lib/explained-error.ts'
import { type ComponentReport, componentThread } from '../threads/component-thread.ts'
import type { Claims, ControllerCommand, ControllerTask, Report } from './messages.ts'
import type { StartedControllers } from './run-task.ts'

/** The worker file beside this one: source in a checkout, built in the bundle. */
const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './controllers-worker.js', import.meta.url)

/**
 * Resolves when the thread has started, or, if it has a port, when it listens. Rejects with an ExplainedError if the
 * port is not available.
 */
export async function controllersOnThread(
  task: ControllerTask,
  signToken: (claims: Claims) => Promise<string>,
  log: (line: string) => void,
): Promise<StartedControllers> {
  const listening = Promise.withResolvers<void>()
  if (!task.manager) listening.resolve()
  let hasBegun = false

  function sign(of: Worker, id: number, claims: Claims): void {
    const answer = (order: ControllerCommand): void => of.postMessage(order)
    signToken(claims).then(
      (token) => answer({ signed: id, token }),
      (error: Error) => answer({ signed: id, error: error.message }),
    )
  }

  /** At the first start a port in use is an error; later the thread is restarted until the port is free. */
  function refused(worker: Worker, message: string): void {
    if (hasBegun) log(`the controllers cannot start: ${message}`)
    listening.reject(new ExplainedError(message))
    void worker.terminate()
  }

  function report(worker: Worker, message: Exclude<Report, ComponentReport>): void {
    if ('begun' in message) listening.resolve()
    else if ('failed' in message) refused(worker, message.failed)
    else sign(worker, message.sign, message.claims)
  }

  const running = componentThread<Report>({ name: 'thread of the controllers', file, task, log, report })
  try {
    await listening.promise
  } catch (error) {
    await running.stop()
    throw error
  }
  hasBegun = true
  return running
}
