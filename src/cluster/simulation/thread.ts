/** Simulates nodes on a thread of their own, so that they do not delay requests. */
import type { RunningSimulation } from '../../simulation/index.ts'
import { componentThread } from '../threads/component-thread.ts'
import type { Report, SimulationTask } from './messages.ts'

/** The worker file beside this one: source in a checkout, built in the bundle. */
const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './simulation-worker.js', import.meta.url)

export function simulationOnThread(task: SimulationTask, log: (line: string) => void): RunningSimulation {
  const { promise: failure, reject } = Promise.withResolvers<never>()
  const { synced, stop } = componentThread<Report>({
    name: 'thread of the simulated nodes',
    file,
    task,
    log,
    report: (_worker, { failed }) => reject(new Error(failed)),
  })
  return { started: Promise.race([synced, failure]), stop }
}
