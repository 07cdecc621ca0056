/**
 * Runs a component on a thread of its own, where what it does delays no request: begun anew when it has failed, asked
 * to stop at the end.
 */
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Log } from '../../lib/log/log.ts'
import { countUnhandledError } from '../../lib/process/unhandled-errors.ts'

/** Something that runs until it is stopped. */
export interface RunningComponent {
  /** Resolves when it knows what was there at the start. */
  readonly synced: Promise<void>
  /** What is wrong with it; undefined if it is healthy. */
  readonly check?: () => Promise<string | undefined>
  /** Resolves when what is under way is done. */
  stop(): Promise<void>
}

/** What every component's thread tells. */
export type ComponentReport =
  | { readonly log: string }
  | { readonly unhandled: string }
  | { readonly synced: true }
  | { readonly alive: true }
/** What every component's thread is told. */
export type StopOrder = { readonly stop: true }
/** The same, for those that are asked about their health too. */
export type ThreadOrder = StopOrder | { readonly ping: true }

export interface ComponentThreadOptions<Report extends object> {
  /** Of the thread; `the controllers`, in messages. */
  readonly name: string
  readonly file: URL
  /** What the worker finds in `workerData`. */
  readonly task: unknown
  readonly log: Log
  /** Told of all else that the thread says. */
  readonly report?: (worker: Worker, report: Exclude<Report, ComponentReport>) => void
}

/** A thread that has not ended by then is ended. */
const stopMs = 5_000
/** A thread that has failed is begun anew after this. */
const againMs = 1_000
/** A thread that does not answer by then is unhealthy. */
const checkMs = 2_000

export function componentThread<Report extends object = ComponentReport>({
  name,
  file,
  task,
  log,
  report,
}: ComponentThreadOptions<Report>): RunningComponent {
  const { promise: synced, resolve } = Promise.withResolvers<void>()
  const waiting: (() => void)[] = []
  let isStopping = false
  let worker = begin()

  function begin(): Worker {
    const begun = new Worker(file, { workerData: task, name, env: environment() })
    begun.on('message', (told: ComponentReport | Exclude<Report, ComponentReport>) => {
      if (isOfAll(told)) heard(told)
      else report?.(begun, told)
    })
    begun.on('error', (error) => log(`the ${name} failed, and begins anew: ${error.stack ?? error.message}`, 'error'))
    begun.on('exit', () => {
      if (!isStopping) setTimeout(() => !isStopping && (worker = begin()), againMs).unref()
    })
    return begun
  }

  function heard(told: ComponentReport): void {
    if ('log' in told) log(told.log)
    else if ('unhandled' in told) {
      countUnhandledError()
      log(`the ${name}: ${told.unhandled}`, 'error')
    } else if ('synced' in told) resolve()
    else for (const answered of waiting.splice(0)) answered()
  }

  return {
    synced,
    async check() {
      const alive = new Promise<undefined>((answered) => waiting.push(() => answered(undefined)))
      worker.postMessage({ ping: true } satisfies ThreadOrder)
      return Promise.race([alive, delay(checkMs, `the ${name} does not answer`, { ref: false })])
    },
    async stop() {
      isStopping = true
      resolve()
      const ended = new Promise<void>((done) => worker.once('exit', () => done()))
      if (worker.threadId < 0) return
      worker.postMessage({ stop: true } satisfies ThreadOrder)
      await Promise.race([ended, delay(stopMs, undefined, { ref: false })])
      await worker.terminate()
    },
  }
}

/**
 * Threads take over where compiled code is kept, where there is such a place. Node appends the version to it by itself.
 */
function environment(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  return directory ? { ...process.env, NODE_COMPILE_CACHE: dirname(directory) } : process.env
}

const isOfAll = (told: object): told is ComponentReport =>
  'log' in told || 'unhandled' in told || 'synced' in told || 'alive' in told
