/** Runs controllers on a thread of their own; tokens are signed here. */
import type { Worker } from 'node:worker_threads'
import type { RunningControllers } from '../../controllers/index.ts'
import { componentThread } from '../threads/component-thread.ts'
import type { Claims, ControllerTask, Order, Report } from './messages.ts'

/** The worker's file beside this one: in a checkout it is source, in the bundle it is built. */
const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './controllers-worker.js', import.meta.url)

export function controllersOnThread(task: ControllerTask, signToken: (claims: Claims) => Promise<string>, log: (line: string) => void): RunningControllers {
  const report = (worker: Worker, { sign, claims }: { readonly sign: number; readonly claims: Claims }): void => {
    const answer = (order: Order): void => worker.postMessage(order)
    signToken(claims).then(
      (token) => answer({ signed: sign, token }),
      (error: Error) => answer({ signed: sign, error: error.message }),
    )
  }
  return componentThread<Report>({ name: 'thread of the controllers', file, task, log, report })
}
