/** Threads that unpack layers. They end when there has been nothing to do for a while. */
import { Worker } from 'node:worker_threads'
import { ImageError } from '../image-error.ts'
import { canceled } from '../registry/transport/http-exchange.ts'
import type { UnpackedLayer, UnpackTask } from './unpack-layer.ts'
import type { UnpackReport } from './unpack-worker.ts'

const file = new URL(import.meta.url.endsWith('.ts') ? './unpack-worker.ts' : './unpack-worker.js', import.meta.url)

/** A layer keeps a thread and, for decompression, half of another one busy. */
const maxThreads = 2
const idleMs = 5_000

export class UnpackPool {
  readonly #idle = new Set<Worker>()
  readonly #waiting: (() => void)[] = []
  #busy = 0

  /**
   * Unpacks a layer on a thread. Tasks start in order, so one may wait for those before it. Rejects with an ImageError,
   * of the code `Unknown` for errors of the file system.
   */
  async run(task: UnpackTask, signal?: AbortSignal): Promise<UnpackedLayer> {
    if (this.#busy >= maxThreads) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#busy++
    try {
      if (signal?.aborted) throw canceled(signal)
      return await this.#runOn(this.#take(), task, signal)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#busy--
    }
  }

  #take(): Worker {
    const [worker = new Worker(file, { name: 'unpack' })] = this.#idle
    this.#idle.delete(worker)
    worker.ref()
    return worker
  }

  #release(worker: Worker): void {
    this.#idle.add(worker)
    worker.unref()
    setTimeout(() => this.#idle.delete(worker) && void worker.terminate(), idleMs).unref()
  }

  async #runOn(worker: Worker, task: UnpackTask, signal: AbortSignal | undefined): Promise<UnpackedLayer> {
    const { promise, resolve, reject } = Promise.withResolvers<UnpackReport>()
    const abort = (): void => reject(canceled(signal!))
    const exited = (): void => reject(new ImageError('Unknown', 'the thread that unpacks layers has ended'))
    signal?.addEventListener('abort', abort)
    worker.once('message', resolve).once('error', reject).once('exit', exited)
    try {
      worker.postMessage(task)
      const report = await promise
      this.#release(worker)
      if ('done' in report) return report.done
      throw new ImageError(report.failed.code, report.failed.message)
    } catch (error) {
      if (!this.#idle.has(worker)) await worker.terminate()
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
      worker.off('message', resolve).off('error', reject).off('exit', exited)
    }
  }
}
