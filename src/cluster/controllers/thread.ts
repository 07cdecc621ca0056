/** Runs controllers on a thread of their own: what they do delays no request. Tokens are signed here. */
import type { Worker } from 'node:worker_threads'
import { ExplainedError } from '../../lib/explained-error.ts'
import { type ComponentReport, componentThread } from '../threads/component-thread.ts'
import type { Claims, ControllerTask, Order, Report } from './messages.ts'
import type { BegunControllers } from './run-task.ts'

/** The worker's file beside this one: in a checkout it is source, in the bundle it is built. */
const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './controllers-worker.js', import.meta.url)

/**
 * Resolves when the thread is on its way; where it has to listen on a port, when it does, and rejects with an
 * ExplainedError if it cannot.
 */
export async function controllersOnThread(
  task: ControllerTask,
  signToken: (claims: Claims) => Promise<string>,
  log: (line: string) => void,
): Promise<BegunControllers> {
  const listening = Promise.withResolvers<void>()
  if (!task.manager) listening.resolve()
  let hasBegun = false

  function sign(of: Worker, id: number, claims: Claims): void {
    const answer = (order: Order): void => of.postMessage(order)
    signToken(claims).then(
      (token) => answer({ signed: id, token }),
      (error: Error) => answer({ signed: id, error: error.message }),
    )
  }

  /** At the start the port is another program's: later the thread is begun anew until it can have it. */
  function refused(worker: Worker, message: string): void {
    if (hasBegun) log(`the controllers cannot begin: ${message}`)
    listening.reject(new ExplainedError(message))
    void worker.terminate()
  }

  function report(worker: Worker, told: Exclude<Report, ComponentReport>): void {
    if ('begun' in told) listening.resolve()
    else if ('failed' in told) refused(worker, told.failed)
    else sign(worker, told.sign, told.claims)
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
