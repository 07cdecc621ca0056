/** Simulates nodes on a thread of their own: what they do delays no request. */
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { RunningSimulation } from '../../simulation/index.ts'
import type { Order, Report, SimulationTask } from './messages.ts'

/** The worker's file beside this one: in a checkout it is source, in the bundle it is built. */
const workerFile = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './simulation-worker.js', import.meta.url)
/** A thread that has not ended by then is ended. */
const stopMs = 5_000
/** A thread that has failed is begun anew after this. */
const againMs = 1_000

export function simulationOnThread(task: SimulationTask, log: (line: string) => void): RunningSimulation {
  const { promise: started, resolve, reject } = Promise.withResolvers<void>()
  let isStopping = false
  let worker = begin()

  function begin(): Worker {
    const begun = new Worker(workerFile, { workerData: task, name: 'simulation' })
    begun.on('message', (report: Report) => {
      if ('log' in report) log(report.log)
      else if ('started' in report) resolve()
      else reject(new Error(report.failed))
    })
    begun.on('error', (error) => log(`the simulated nodes have failed, and begin anew: ${error.stack ?? error.message}`))
    begun.on('exit', () => {
      if (!isStopping) setTimeout(() => !isStopping && (worker = begin()), againMs).unref()
    })
    return begun
  }

  return {
    started,
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
