/** Ends the pods of a node that shuts down, in the order of their priorities, while a lock delays the shutdown. */
import { messageOf } from '../../lib/message-of.ts'
import type { Rejection } from '../admission/rejection.ts'
import type { Pod } from '../pod-types.ts'
import type { Termination } from '../workers/pod-worker.ts'
import type { Logind, ShutdownLock, ShutdownWatch } from './logind.ts'
import { graceSecondsOf, type ShutdownGroup, type ShutdownPeriod, shutdownGroups } from './shutdown-groups.ts'

export interface NodeShutdownOptions {
  readonly logind: Logind
  /** In the order of their priorities; without one shutdowns do not wait for pods. */
  readonly periods: readonly ShutdownPeriod[]
  readonly activePods: () => readonly Pod[]
  /** Ends a pod; resolves when nothing is left of it. */
  readonly end: (pod: Pod, termination: Termination) => Promise<void>
  /** Records an event of the node. */
  readonly record: (reason: string, message: string) => void
  /** Called when the graceful end of pods begins, and when it is over. */
  readonly observe: (step: 'start' | 'end') => void
  /** Reports that the node is not ready, or is again. */
  readonly reportNode: () => void
  readonly log: (line: string) => void
  readonly schedule: (callback: () => void, ms: number) => () => void
}

/** The interval in ms of attempts to reach logind. */
const reconnectMs = 1_000
const status = {
  reason: 'Terminated',
  message: 'Pod was terminated in response to imminent node shutdown.',
  isDisruption: true,
} as const
const rejection: Rejection = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
}

export class NodeShutdown {
  readonly #options: NodeShutdownOptions
  #isShuttingDown = false
  #isStopped = false
  #lock: ShutdownLock | undefined
  #watch: ShutdownWatch | undefined
  #cancel: (() => void) | undefined
  #problem = ''

  constructor(options: NodeShutdownOptions) {
    this.#options = options
  }

  /** The reason why the node is not ready; undefined if it is not shutting down. */
  get problem(): string | undefined {
    return this.#isShuttingDown ? 'node is shutting down' : undefined
  }

  /** Rejects new pods during a shutdown. */
  get rejection(): Rejection | undefined {
    return this.#isShuttingDown ? rejection : undefined
  }

  /** Resolves when shutdowns are delayed for pods, or after the first failure, which is logged and retried. */
  async start(): Promise<void> {
    if (this.#options.periods.length > 0) await this.#connect()
  }

  /** Releases the lock: a shutdown does not wait for this kubelet. */
  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
    this.#watch?.stop()
    this.#lock?.release()
  }

  async #connect(): Promise<void> {
    const { logind, log } = this.#options
    try {
      await this.#extendDelay()
      await this.#acquire()
      const watch = await logind.watch((isShuttingDown) => void this.#announced(isShuttingDown))
      this.#watch = watch
      this.#problem = ''
      if (this.#isStopped) this.stop()
      void watch.ended.then(() => this.#reconnect())
    } catch (error) {
      const problem = messageOf(error)
      if (problem !== this.#problem && !this.#isStopped)
        log(`cannot watch for shutdowns of the node: ${problem}; pods do not end gracefully before a shutdown`)
      this.#problem = problem
      this.#reconnect()
    }
  }

  #reconnect(): void {
    if (!this.#isStopped) this.#cancel = this.#options.schedule(() => void this.#connect(), reconnectMs)
  }

  /** Makes logind wait as long as the pods of all groups may need. */
  async #extendDelay(): Promise<void> {
    const { logind, periods } = this.#options
    const neededMs = periods.reduce((sum, { seconds }) => sum + seconds * 1000, 0)
    if (neededMs <= (await logind.maxDelayMs())) return
    await logind.setMaxDelay(neededMs)
    const ms = await logind.maxDelayMs()
    if (neededMs > ms)
      throw new Error(
        `node shutdown manager was unable to update logind InhibitDelayMaxSec to ${neededMs / 1000}s ` +
          `(ShutdownGracePeriod), current value of InhibitDelayMaxSec (${ms / 1000}s) is less than requested ` +
          'ShutdownGracePeriod',
      )
  }

  async #acquire(): Promise<void> {
    const former = this.#lock
    this.#lock = await this.#options.logind.lock()
    former?.release()
  }

  async #announced(isShuttingDown: boolean): Promise<void> {
    const { record, reportNode, log } = this.#options
    if (this.#isShuttingDown === isShuttingDown) return
    this.#isShuttingDown = isShuttingDown
    record('NodeShutdown', `Shutdown manager detected shutdown ${isShuttingDown ? 'event' : 'cancellation'}`)
    reportNode()
    try {
      if (isShuttingDown) await this.#endPods()
      else await this.#acquire()
    } catch (error) {
      log(`cannot handle the shutdown of the node: ${messageOf(error)}`)
    }
  }

  async #endPods(): Promise<void> {
    const { periods, activePods, observe } = this.#options
    observe('start')
    try {
      for (const group of shutdownGroups(periods, activePods())) await this.#endGroup(group)
    } finally {
      observe('end')
      // A cancellation may have taken the next lock.
      if (this.#isShuttingDown) this.#lock?.release()
    }
  }

  /** Resolves when the pods of a group have ended, or their time is over. */
  async #endGroup(group: ShutdownGroup): Promise<void> {
    const { end, schedule, log } = this.#options
    const ends = group.pods.map((pod) =>
      end(pod, { graceSeconds: graceSecondsOf(pod, group), status }).catch((error: Error) =>
        log(`cannot end the pod ${pod.metadata.namespace}/${pod.metadata.name}: ${error.message}`),
      ),
    )
    const { promise: isOver, resolve } = Promise.withResolvers<void>()
    const cancel = schedule(resolve, group.seconds * 1000)
    await Promise.race([Promise.all(ends), isOver])
    cancel()
  }
}
