/** The thread that connects pods: it starts when there is something to do, and ends after a while without. */
import { Worker } from 'node:worker_threads'
import type { NetworkOutcome, NetworkReport, NetworkTask } from './network-tasks.ts'

const file = new URL(import.meta.url.endsWith('.ts') ? './network-worker.ts' : './network-worker.js', import.meta.url)

const idleMs = 30_000

export class NetworkThread {
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** Runs tasks one after another: a host port is checked and then taken. Rejects with the error of the task. */
  run(task: NetworkTask): Promise<NetworkOutcome> {
    const outcome = this.#last.then(() => this.#runNext(task))
    this.#last = outcome.catch(() => {})
    return outcome
  }

  /** Ends the thread after its tasks. */
  async close(): Promise<void> {
    await this.#last
    if (this.#worker) await this.run({ kind: 'close' }).catch(() => {})
    clearTimeout(this.#idle)
    await this.#worker?.terminate()
  }

  async #runNext(task: NetworkTask): Promise<NetworkOutcome> {
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    const worker = this.#worker
    const { promise, resolve, reject } = Promise.withResolvers<NetworkReport>()
    const exited = (): void => reject(new Error('the thread of the pod network has ended'))
    worker.once('message', resolve).once('error', reject).once('exit', exited)
    try {
      worker.postMessage(task)
      const report = await promise
      if ('failed' in report) throw new Error(report.failed)
      return report.done
    } finally {
      worker.off('message', resolve).off('error', reject).off('exit', exited)
      this.#idle = setTimeout(() => void worker.terminate(), idleMs).unref()
    }
  }

  #start(): Worker {
    const worker = new Worker(file, { name: 'network' })
    // Its errors end it, and the task that runs gets them.
    worker.on('error', () => {})
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }
}
