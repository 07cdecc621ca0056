/**
 * The worker of one pod: the only writer of its containers. A pod is synced until it ends, then terminated, then
 * cleaned up; it never goes back. Updates that arrive during a step are seen by the next one.
 */
import { type Pod, specOf } from '../pod-types.ts'

/** The result of one sync. */
export interface SyncResult {
  /** True if the pod has succeeded or failed: it is terminated. */
  readonly hasEnded: boolean
  /** The reason for the end, if it is not that of the containers. */
  readonly termination?: Termination
  /** The time in ms after which the pod has to be synced again at the latest, as when a back-off ends. */
  readonly retryMs?: number
  /** True if the sync has seen the newest state of the runtime, and it needs no step. */
  readonly isSettled?: boolean
}

/** The steps of a pod's life. Each is repeated after an error, and may be called again after a restart. */
export interface PodSteps {
  /** Brings the containers closer to the spec, and reports the status. */
  sync(pod: Pod): Promise<SyncResult>
  /** Makes the current sync end soon, because the pod ends: it starts no more containers. */
  interrupt(pod: Pod): void
  /** Ends all containers; resolves when none runs. `signal` is aborted if a shorter grace period arrives. */
  terminate(pod: Pod, termination: Termination, signal: AbortSignal): Promise<void>
  /** Releases volumes and cgroups, and reports the last status. */
  cleanUp(pod: Pod, termination: Termination): Promise<void>
}

/** The reason for the end of a pod. */
export interface Termination {
  readonly graceSeconds: number
  /** For the pod's status, as of an eviction; without it the status of its containers decides. */
  readonly status?: TerminationStatus
}

/** The reason and message of a pod that the kubelet ends. */
export interface TerminationStatus {
  readonly reason: string
  readonly message: string
  /** True for a condition `DisruptionTarget`, which the policies for failed pods of a Job read (KEP-3329). */
  readonly isDisruption?: boolean
}

export type WorkerState = 'syncing' | 'terminating' | 'terminated' | 'finished'

export interface WorkerOptions {
  readonly steps: PodSteps
  readonly log: (line: string) => void
  /** Calls back after so many ms; the returned function cancels that. */
  readonly schedule: (callback: () => void, ms: number) => () => void
  /** Called when the worker has finished. */
  readonly onFinish: () => void
}

/** Delays in ms after an error, and between syncs without a change (`syncFrequency`). */
const errorMs = 10_000
const transientErrorMs = 1_000
const resyncMs = 60_000

/** Errors that pass soon, such as of a network that is not ready yet: they are retried earlier. Default: after 1 s. */
export class TransientError extends Error {
  readonly retryMs: number

  constructor(message: string, retryMs: number = transientErrorMs) {
    super(message)
    this.retryMs = retryMs
  }
}

export class PodWorker {
  readonly #options: WorkerOptions
  #pod: Pod
  #state: WorkerState = 'syncing'
  #termination: Termination | undefined
  #isStepping = false
  /** True if something has changed since the current step began. */
  #isDirty = false
  /** True if the runtime has had another state since the current step began. */
  #isOutdated = false
  #cancelTimer: (() => void) | undefined
  #stopping: AbortController | undefined
  #isStopped = false
  #working: Promise<void> = Promise.resolve()
  readonly #ended = Promise.withResolvers<void>()
  readonly #finished = Promise.withResolvers<void>()

  constructor(pod: Pod, options: WorkerOptions) {
    this.#pod = pod
    this.#options = options
    this.#endIfDeleted()
  }

  get pod(): Pod {
    return this.#pod
  }

  get state(): WorkerState {
    return this.#state
  }

  /** Resolves when no container runs and none will start. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Resolves when nothing is left of the pod. */
  get finished(): Promise<void> {
    return this.#finished.promise
  }

  /** Takes a newer version of the pod, and syncs it. A deleted pod is terminated. */
  update(pod: Pod): void {
    this.#pod = pod
    this.#endIfDeleted()
    this.wake()
  }

  /** Takes a newer version of the pod that needs no step. */
  replace(pod: Pod): void {
    this.#pod = pod
  }

  /** Terminates the pod. Of several grace periods the shortest counts, and the first status. */
  terminate(termination: Termination): void {
    const known = this.#termination
    if (known && termination.graceSeconds >= known.graceSeconds) return
    this.#termination = known?.status ? { ...termination, status: known.status } : termination
    if (this.#state === 'syncing') {
      this.#state = 'terminating'
      if (this.#isStepping) this.#options.steps.interrupt(this.#pod)
    } else if (known && this.#state === 'terminating') this.#stopping?.abort()
    this.wake()
  }

  /** Starts the next step now, or after the current one. */
  wake(): void {
    this.#isDirty = true
    if (!this.#isStepping && !this.#isStopped) this.#working = this.#work()
  }

  /** The runtime has another state of the pod, which the current step may have made itself. */
  runtimeChanged(): void {
    if (this.#isStepping) this.#isOutdated = true
    else this.wake()
  }

  /** Starts no more steps, and resolves when the current one is over. Containers continue. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer?.()
    this.#stopping?.abort()
    return this.#working
  }

  #endIfDeleted(): void {
    const { deletionTimestamp, deletionGracePeriodSeconds } = this.#pod.metadata
    if (!deletionTimestamp) return
    const graceSeconds = deletionGracePeriodSeconds ?? specOf(this.#pod).terminationGracePeriodSeconds ?? 30
    this.terminate({ graceSeconds })
  }

  async #work(): Promise<void> {
    this.#isStepping = true
    this.#cancelTimer?.()
    let delayMs = 0
    while (this.#isDirty && !this.#isStopped && this.#state !== 'finished') {
      this.#isDirty = false
      this.#isOutdated = false
      delayMs = await this.#step()
      if (this.#isOutdated) this.#isDirty = true
    }
    this.#isStepping = false
    if (this.#state === 'finished') this.#options.onFinish()
    else if (!this.#isStopped) this.#cancelTimer = this.#options.schedule(() => this.wake(), delayMs)
  }

  /** Runs one step. Resolves with the delay before the next one; never rejects. */
  async #step(): Promise<number> {
    try {
      return await this.#stepOf(this.#state)
    } catch (error) {
      const { namespace, name } = this.#pod.metadata
      // A step that runs while the kubelet stops fails when its connections are closed.
      if (!this.#isStopped)
        this.#options.log(`cannot ${verbs[this.#state]} the pod ${namespace}/${name}: ${(error as Error).message}`)
      return error instanceof TransientError ? error.retryMs : errorMs
    }
  }

  async #stepOf(state: WorkerState): Promise<number> {
    const { steps } = this.#options
    const pod = this.#pod
    switch (state) {
      case 'syncing': {
        const { hasEnded, termination, retryMs = resyncMs, isSettled } = await steps.sync(pod)
        if (isSettled) this.#isOutdated = false
        if (!hasEnded) return Math.min(retryMs, resyncMs)
        this.#termination ??= termination ?? { graceSeconds: specOf(pod).terminationGracePeriodSeconds ?? 30 }
        if (this.#state === 'syncing') this.#state = 'terminating'
        this.#isDirty = true
        return 0
      }
      case 'terminating': {
        const termination = this.#termination!
        this.#stopping = new AbortController()
        await steps.terminate(pod, termination, this.#stopping.signal)
        // A shorter grace period has arrived: terminate again with it.
        if (this.#stopping.signal.aborted) this.#isDirty = true
        else {
          this.#advance('terminated')
          this.#ended.resolve()
        }
        return 0
      }
      case 'terminated':
        await steps.cleanUp(pod, this.#termination!)
        this.#advance('finished')
        this.#finished.resolve()
        return 0
      case 'finished':
        return 0
    }
    return state satisfies never
  }

  #advance(state: WorkerState): void {
    this.#state = state
    this.#isDirty = true
  }
}

const verbs: Readonly<Record<WorkerState, string>> = {
  syncing: 'sync',
  terminating: 'terminate',
  terminated: 'clean up',
  finished: 'finish',
}
