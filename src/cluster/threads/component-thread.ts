/**
 * Runs a component on a thread of its own, so that it does not delay requests. The thread is restarted after a failure.
 */
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Log } from '../../lib/log/log.ts'
import { countUnhandledError } from '../../lib/process/unhandled-errors.ts'

/** Something that runs until it is stopped. */
export interface RunningComponent {
  /** Resolves when its informers have synced. */
  readonly synced: Promise<void>
  /** Returns what is wrong with it; undefined if it is healthy. */
  readonly check?: () => Promise<string | undefined>
  /** Resolves when running work is done. */
  stop(): Promise<void>
}

/** The messages of every component's thread. */
export type ComponentReport =
  | { readonly log: string }
  | { readonly unhandled: string }
  | { readonly synced: true }
  | { readonly alive: true }
/** The messages to every component's thread. */
export type StopCommand = { readonly stop: true }
/** The messages to threads with a late task. */
export type LateTaskCommand<Task> = StopCommand | { readonly task: Task }
/** The messages to threads with a health check. */
export type ThreadCommand = StopCommand | { readonly ping: true }

export interface ComponentThreadOptions<Report extends object> {
  /** Name of the thread in messages, such as `the controllers`. */
  readonly name: string
  readonly file: URL
  /** The worker's `workerData`. */
  readonly task: unknown
  /** The rest of the task, sent to the worker when it is known: the thread loads its code before. */
  readonly lateTask?: Promise<unknown>
  readonly log: Log
  /** Called with all other messages of the thread. */
  readonly report?: (worker: Worker, report: Exclude<Report, ComponentReport>) => void
}

/** Time in ms to stop before a thread is terminated. */
const stopMs = 5_000
/** Delay in ms before a failed thread is restarted. */
const restartDelayMs = 1_000
/** Time in ms to answer a ping before a thread is unhealthy. */
const checkMs = 2_000

export function componentThread<Report extends object = ComponentReport>({
  name,
  file,
  task,
  lateTask,
  log,
  report,
}: ComponentThreadOptions<Report>): RunningComponent {
  const { promise: synced, resolve } = Promise.withResolvers<void>()
  const waiting: (() => void)[] = []
  let isStopping = false
  let worker = startWorker()

  function startWorker(): Worker {
    // Components close files that system calls have opened, which Node does not know.
    const thread = new Worker(file, { workerData: task, name, env: environment(), trackUnmanagedFds: false })
    // A task that is never known is an error of its sender.
    lateTask?.then((late) => thread.postMessage({ task: late })).catch(() => {})
    thread.on('message', (message: ComponentReport | Exclude<Report, ComponentReport>) => {
      if (isComponentReport(message)) handleReport(message)
      else report?.(thread, message)
    })
    thread.on('error', (error) => log(`the ${name} failed and is restarted: ${error.stack ?? error.message}`, 'error'))
    thread.on('exit', () => {
      if (!isStopping) setTimeout(() => !isStopping && (worker = startWorker()), restartDelayMs).unref()
    })
    return thread
  }

  function handleReport(message: ComponentReport): void {
    if ('log' in message) log(message.log)
    else if ('unhandled' in message) {
      countUnhandledError()
      log(`the ${name}: ${message.unhandled}`, 'error')
    } else if ('synced' in message) resolve()
    else for (const answered of waiting.splice(0)) answered()
  }

  return {
    synced,
    async check() {
      const alive = new Promise<undefined>((answered) => waiting.push(() => answered(undefined)))
      worker.postMessage({ ping: true } satisfies ThreadCommand)
      return Promise.race([alive, delay(checkMs, `the ${name} does not answer`, { ref: false })])
    },
    async stop() {
      isStopping = true
      resolve()
      const ended = new Promise<void>((done) => worker.once('exit', () => done()))
      if (worker.threadId < 0) return
      worker.postMessage({ stop: true } satisfies ThreadCommand)
      await Promise.race([ended, delay(stopMs, undefined, { ref: false })])
      await worker.terminate()
    },
  }
}

/** Passes the compile cache to threads, if there is one. Node appends its version to the directory. */
function environment(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  return directory ? { ...process.env, NODE_COMPILE_CACHE: dirname(directory) } : process.env
}

const isComponentReport = (message: object): message is ComponentReport =>
  'log' in message || 'unhandled' in message || 'synced' in message || 'alive' in message
