/** Runs the ingress proxy on a thread of its own, so that it does not delay requests to the API server. */
import type { RunningIngress } from '../../network/ingress/ingress.ts'
import { componentThread } from '../threads/component-thread.ts'
import type { IngressTask, Report } from './messages.ts'

/** The worker file beside this one: source in a checkout, built in the bundle. */
const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './ingress-worker.js', import.meta.url)

export function ingressOnThread(task: IngressTask, log: (line: string) => void): RunningIngress {
  const { promise: failure, reject } = Promise.withResolvers<never>()
  const { synced, stop } = componentThread<Report>({
    name: 'thread of the ingress proxy',
    file,
    task,
    log,
    report: (_worker, { failed }) => reject(new Error(failed)),
  })
  return { started: Promise.race([synced, failure]), stop }
}
