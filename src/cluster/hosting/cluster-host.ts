/**
 * The thread on which the clusters of a program run. One thread serves all clusters, so that later starts take
 * milliseconds; it ends a while after the last cluster. It never prevents the end of the program, except during calls.
 */
import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ClockMemory } from '../../lib/clock/clock-memory.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { messageOf } from '../../lib/message-of.ts'
import { clusterClock } from '../clock/cluster-clock.ts'
import type { Cluster, ClusterOptions, StopOptions } from '../cluster-options.ts'
import type { ClusterUser } from '../credentials/cluster-users.ts'
import type { ClusterData, HostCall, HostOrder, HostReport } from './messages.ts'
import { receivedError } from './sent-error.ts'
import { stopAtEnd } from './stop-at-end.ts'

/** Time in ms for which the thread waits for another cluster. */
const idleMs = 10_000

/** A cluster of the thread, as seen by the host. */
interface Hosted {
  readonly options: ClusterOptions
  readonly synced: PromiseWithResolvers<void>
}

/** The thread of this program; undefined while there is none. */
let current: ClusterHost | undefined

/** Starts a cluster on the thread. Rejects as `runCluster` does. */
export function hostedCluster(options: ClusterOptions): Promise<Cluster> {
  current ??= new ClusterHost(() => (current = undefined))
  return current.start(options)
}

class ClusterHost {
  readonly #worker: Worker
  readonly #ended: () => void
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #clusters = new Map<number, Hosted>()
  #lastNumber = 0
  /** The number of promises that a program may wait for. */
  #holds = 0
  #idle: NodeJS.Timeout | undefined
  #failure: Error | undefined

  /** `ended` is called when the thread takes no more clusters. */
  constructor(ended: () => void) {
    this.#ended = ended
    // Source in a checkout, built in the bundle.
    const file = isSource ? './host-worker.ts' : './cluster-worker.js'
    // Hooks and options of the program's own code are not for this thread.
    this.#worker = new Worker(new URL(file, import.meta.url), { env: environment(), execArgv: [], name: 'typernetes' })
    this.#worker.unref()
    this.#worker.on('message', (report: HostReport) => this.#handle(report))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', (code) => this.#fail(new Error(`it ended with code ${code}`)))
  }

  async start(options: ClusterOptions): Promise<Cluster> {
    clearTimeout(this.#idle)
    const cluster = ++this.#lastNumber
    const hosted: Hosted = { options, synced: Promise.withResolvers() }
    this.#clusters.set(cluster, hosted)
    try {
      return this.#handleOf(
        cluster,
        hosted,
        (await this.#call(cluster, { start: sentOptions(options) })) as ClusterData,
      )
    } catch (error) {
      this.#forget(cluster)
      throw error
    }
  }

  #handleOf(cluster: number, { synced }: Hosted, { clockMemory, ...data }: ClusterData): Cluster {
    const time = new MovableClock(new ClockMemory(clockMemory))
    let stopped: Promise<void> | undefined
    const running = stopAtEnd({ url: data.url, stop })
    const end = (options: StopOptions): Promise<void> => this.#stop(cluster, options)
    function stop(options: StopOptions = {}): Promise<void> {
      running.release()
      time.stop()
      return (stopped ??= end(options))
    }
    const hold = <T>(promise: Promise<T>): Promise<T> => this.#hold(promise)
    return {
      ...data,
      get synced() {
        return hold(synced.promise)
      },
      clock: clusterClock(time, async (clock) => void (await this.#call(cluster, { clock }))),
      user: async (user) => (await this.#call(cluster, { user })) as ClusterUser,
      stop,
      [Symbol.asyncDispose]: () => stop(),
    }
  }

  async #stop(cluster: number, options: StopOptions): Promise<void> {
    // The clusters of a thread that has failed do not run any more.
    if (!this.#failure) await this.#call(cluster, { stop: options })
    this.#forget(cluster)
  }

  #forget(cluster: number): void {
    this.#clusters.get(cluster)?.synced.resolve()
    this.#clusters.delete(cluster)
    if (this.#clusters.size > 0 || this.#failure) return
    this.#idle = setTimeout(() => this.#end(), idleMs)
    this.#idle.unref()
  }

  #end(): void {
    this.#ended()
    this.#worker.removeAllListeners('exit')
    void this.#worker.terminate()
  }

  #call(cluster: number, order: HostOrder): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure)
    const call = ++this.#lastNumber
    const answered = Promise.withResolvers<unknown>()
    this.#calls.set(call, answered)
    this.#worker.postMessage({ ...order, cluster, call } satisfies HostCall)
    return this.#hold(answered.promise)
  }

  /** The program does not end while it waits for the promise. */
  async #hold<T>(promise: Promise<T>): Promise<T> {
    if (++this.#holds === 1) this.#worker.ref()
    try {
      return await promise
    } finally {
      if (--this.#holds === 0) this.#worker.unref()
    }
  }

  #handle(report: HostReport): void {
    if ('call' in report) {
      const answered = this.#calls.get(report.call)
      this.#calls.delete(report.call)
      if ('error' in report) answered?.reject(receivedError(report.error))
      else answered?.resolve(report.answer)
      return
    }
    const hosted = this.#clusters.get(report.cluster)
    if (!hosted) return
    const { log, storage } = hosted.options
    if ('log' in report) log?.(report.log, report.severity)
    else if ('synced' in report) hosted.synced.resolve()
    else if (typeof storage === 'object' && 'notice' in storage) storage.notice?.(report.notice)
  }

  #fail(error: unknown): void {
    if (this.#failure) return
    this.#ended()
    const message = `the thread of the clusters failed: ${messageOf(error)}`
    this.#failure = new Error(`${message}; start new clusters`, { cause: error })
    if (this.#calls.size === 0) process.emitWarning(`${message}; its clusters do not answer any more`)
    for (const { log } of [...this.#clusters.values()].map(({ options }) => options)) log?.(message, 'error')
    for (const { reject } of this.#calls.values()) reject(this.#failure)
    for (const { synced } of this.#clusters.values()) synced.resolve()
    this.#calls.clear()
    this.#clusters.clear()
  }
}

/** Throws an ExplainedError for values that cannot be sent. */
function sentOptions(options: ClusterOptions) {
  const { log, storage, ...others } = options
  const { notice, ...stored } = typeof storage === 'object' && 'notice' in storage ? storage : {}
  const sent = { ...others, storage: notice ? { ...stored } : storage } as ClusterOptions
  try {
    return { options: structuredClone(sent), hasLog: log !== undefined, hasNotice: notice !== undefined }
  } catch (error) {
    throw new ExplainedError(
      `an option cannot be sent to the thread of the cluster (${messageOf(error)}): set thread to false`,
      { cause: error },
    )
  }
}

const isSource = import.meta.url.endsWith('.ts')

/**
 * The code of a cluster is compiled once, and then cached beside the bundle if that is possible: only for this thread,
 * as the program's own code is not the cluster's business.
 */
function environment(): NodeJS.ProcessEnv {
  // Preloaded modules of the program would be loaded, too.
  const { NODE_OPTIONS: _, ...env } = process.env
  const given = getCompileCacheDir()
  // Node appends its version to the directory.
  if (given) return { ...env, NODE_COMPILE_CACHE: dirname(given) }
  return isSource ? env : { ...env, NODE_COMPILE_CACHE: join(import.meta.dirname, 'compile-cache') }
}
