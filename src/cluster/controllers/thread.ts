/** Runs controllers on a thread of their own: what they do delays no request. */
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { Claims, ControllerTask, Order, Report } from './messages.ts'
import type { BegunControllers } from './run-task.ts'

/** The worker's file beside this one: in a checkout it is source, in the bundle it is built. */
const workerFile = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './controllers-worker.js', import.meta.url)
/** A thread that has not ended by then is ended. */
const stopMs = 5_000
/** A thread that has failed is begun anew after this. */
const againMs = 1_000

/** Resolves when the thread is on its way; where it has to listen on a port, when it does, and rejects with an ExplainedError if it cannot. */
export async function controllersOnThread(
  task: ControllerTask,
  signToken: (claims: Claims) => Promise<string>,
  log: (line: string) => void,
): Promise<BegunControllers> {
  const { promise: synced, resolve } = Promise.withResolvers<void>()
  const listening = Promise.withResolvers<void>()
  if (!task.manager) listening.resolve()
  let isStopping = false
  let hasBegun = false
  let worker = begin()

  function begin(): Worker {
    const begun = new Worker(workerFile, { workerData: task, name: 'controllers' })
    begun.on('message', (report: Report) => {
      if ('log' in report) log(report.log)
      else if ('synced' in report) resolve()
      else if ('begun' in report) listening.resolve()
      else if ('failed' in report) refused(report.failed)
      else sign(begun, report.sign, report.claims)
    })
    begun.on('error', (error) => log(`the controllers have failed, and begin anew: ${error.stack ?? error.message}`))
    begun.on('exit', () => {
      if (!isStopping) setTimeout(() => !isStopping && (worker = begin()), againMs).unref()
    })
    return begun
  }

  /** At the start the port is another program's: later the thread is begun anew until it can have it. */
  function refused(message: string): void {
    if (hasBegun) log(`the controllers cannot begin: ${message}`)
    listening.reject(new ExplainedError(message))
    void worker.terminate()
  }

  function sign(of: Worker, id: number, claims: Claims): void {
    const answer = (order: Order): void => of.postMessage(order)
    signToken(claims).then(
      (token) => answer({ signed: id, token }),
      (error: Error) => answer({ signed: id, error: error.message }),
    )
  }

  try {
    await listening.promise
    hasBegun = true
  } catch (error) {
    isStopping = true
    throw error
  }
  return {
    synced,
    async stop() {
      isStopping = true
      resolve()
      const ended = new Promise<void>((done) => worker.once('exit', () => done()))
      if (worker.threadId < 0) return
      worker.postMessage({ stop: true } satisfies Order)
      await Promise.race([ended, delay(stopMs, undefined, { ref: false })])
      await worker.terminate()
    },
  }
}
