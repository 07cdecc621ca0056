/**
 * Removes dead containers with their logs, sandboxes that have ended, and the log folders of pods that no longer exist:
 * every minute, and those of a pod soon after it has ended.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Container, ContainerState } from '#protobuf/cri-runtime_pb.js'
import { aggregated } from '../../../lib/go/aggregate.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { containerNameOf, identityOf, selectPod } from '../../cri/labels.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import type { LogLinks } from '../../logs/log-links.ts'
import { removeLog } from '../../logs/rotation/log-rotation.ts'
import { hasExited, type RuntimePod } from '../../pods/runtime-pod.ts'
import {
  type CollectionFacts,
  type ContainerPolicy,
  deadContainersToRemove,
  deadSandboxesToRemove,
  type Retention,
} from './collection-plan.ts'

export interface ContainerCollectorOptions {
  readonly runtime: Pick<
    CriRuntime,
    | 'containers'
    | 'sandboxes'
    | 'containerStatus'
    | 'stopContainer'
    | 'removeContainer'
    | 'stopSandbox'
    | 'removeSandbox'
  >
  readonly policy: ContainerPolicy
  readonly logLinks: Pick<LogLinks, 'remove'>
  /** The folder of the logs of pods, `/var/log/pods`. */
  readonly podLogs: string
  readonly log: (line: string) => void
  readonly now: () => number
  readonly schedule: (callback: () => void, ms: number) => () => void
  /** Records an event of the node. */
  record(reason: string, message: string): void
}

/** The pods of the node, once all of them are known. */
export interface CollectedPods {
  retention(uid: string): Retention
  /** Removes the files of pods of which nothing is retained. Never rejects. */
  removeFiles(isRetained: (uid: string) => boolean): Promise<void>
}

/** `ContainerGCPeriod`, in ms. */
const periodMs = 60_000
/** The grace period of containers in an unknown state, which may still run. In seconds. */
const unknownGraceSeconds = 2

export class ContainerCollector {
  readonly #options: ContainerCollectorOptions
  /** Runs are one after the other. */
  #last: Promise<unknown> = Promise.resolve()
  #pods: CollectedPods | undefined
  #isStopped = false
  #cancel: (() => void) | undefined
  /** Containers whose removal is queued. */
  readonly #surplus = new Set<string>()

  constructor(options: ContainerCollectorOptions) {
    this.#options = options
  }

  /** Starts to collect. All pods must be known, since nothing is retained of others. */
  start(pods: CollectedPods): void {
    this.#pods = pods
    void this.#run()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  /** Removes everything that is not retained. Rejects with an Error if the runtime does not answer. */
  collect(): Promise<void> {
    return this.#next(() => this.#collect(false))
  }

  /** Removes all containers of pods that have ended too, as under disk pressure. Rejects as `collect`. */
  removeUnused(): Promise<void> {
    return this.#next(() => this.#collect(true))
  }

  /** Removes what a pod leaves, as soon as it has ended. */
  podEnded(uid: string): void {
    if (this.#pods?.retention(uid) !== 'none') return
    void this.#next(() => this.#collect(false, uid))
      .catch((error) => this.#logFailure(`the containers of the pod ${uid}`, error))
      .then(() => this.#removeFiles())
  }

  /** Removes dead containers of a live pod that newer ones have replaced. */
  trim({ containers }: RuntimePod): void {
    const { policy } = this.#options
    if (policy.maxPerContainer < 0) return
    const dead = Map.groupBy(containers.filter(hasExited), ({ labels }) => containerNameOf(labels))
    const max = Math.max(1, policy.maxPerContainer)
    const surplus = [...dead.values()].flatMap((own) => own.slice(max)).filter(({ id }) => !this.#surplus.has(id))
    for (const { id, state } of surplus) {
      this.#surplus.add(id)
      void this.#next(() => this.#remove({ id, state })).finally(() => this.#surplus.delete(id))
    }
  }

  #next<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run)
    this.#last = result.catch(() => {})
    return result
  }

  async #run(): Promise<void> {
    const { log, record, schedule } = this.#options
    try {
      await this.collect()
    } catch (error) {
      if (this.#isStopped) return
      log(`cannot collect containers: ${messageOf(error)}`)
      record('ContainerGCFailed', messageOf(error))
    }
    await this.#removeFiles()
    if (!this.#isStopped) this.#cancel = schedule(() => void this.#run(), periodMs)
  }

  async #removeFiles(): Promise<void> {
    await this.#pods?.removeFiles((uid) => this.#retention(uid) !== 'none')
  }

  #retention(uid: string): Retention {
    return this.#pods?.retention(uid) ?? 'live'
  }

  /** `uid` limits it to one pod. */
  async #collect(isUrgent: boolean, uid?: string): Promise<void> {
    const failures: string[] = []
    const steps = [
      () => this.#collectContainers(isUrgent, uid),
      () => this.#collectSandboxes(isUrgent, uid),
      () => this.#collectLogFolders(uid),
    ]
    for (const step of steps) await step().catch((error) => failures.push(messageOf(error)))
    if (failures.length > 0) throw new Error(aggregated(failures))
  }

  async #collectContainers(isUrgent: boolean, uid: string | undefined): Promise<void> {
    const { runtime, policy, now } = this.#options
    const containers = await runtime.containers(filterOf(uid))
    const facts = this.#facts(isUrgent)
    for (const container of deadContainersToRemove(containers, facts, policy, now())) await this.#remove(container)
  }

  async #collectSandboxes(isUrgent: boolean, uid: string | undefined): Promise<void> {
    const { runtime } = this.#options
    const sandboxes = await runtime.sandboxes(filterOf(uid))
    // After the sandboxes: a container that was created meanwhile is in this list.
    const containers = await runtime.containers(filterOf(uid))
    for (const { id } of deadSandboxesToRemove(sandboxes, containers, this.#facts(isUrgent)))
      try {
        await runtime.stopSandbox(id)
        await runtime.removeSandbox(id)
      } catch (error) {
        this.#logFailure(`the sandbox ${id}`, error)
      }
  }

  #facts(isUrgent: boolean): CollectionFacts {
    return { isUrgent, retention: (uid) => this.#retention(uid) }
  }

  /** A folder is named `NAMESPACE_NAME_UID`. */
  async #collectLogFolders(uid: string | undefined): Promise<void> {
    const { podLogs } = this.#options
    const names = await readdir(podLogs).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw new Error(`failed to read podLogsDirectory ${JSON.stringify(podLogs)}: ${error.message}`)
    })
    for (const name of names) {
      const owner = /^[^_]+_[^_]+_([^_]+)$/.exec(name)?.[1]
      if (!owner || (uid !== undefined && owner !== uid) || this.#retention(owner) !== 'none') continue
      await rm(join(podLogs, name), { recursive: true, force: true }).catch((error) =>
        this.#logFailure(`the log folder ${name}`, error),
      )
    }
  }

  /** Removes a dead container, its log and the link to that. Logs a failure: the next collection repeats it. */
  async #remove({ id, state }: Pick<Container, 'id' | 'state'>): Promise<void> {
    const { runtime, logLinks, podLogs } = this.#options
    try {
      if (state === ContainerState.CONTAINER_UNKNOWN) await runtime.stopContainer(id, unknownGraceSeconds)
      const status = await runtime.containerStatus(id)
      const pod = status && identityOf(status.labels)
      if (pod) {
        const { logPath, labels } = status
        if (logPath.startsWith(`${podLogs}/`)) await removeLog(logPath)
        await logLinks.remove({ pod, name: containerNameOf(labels), id, logPath })
      }
      await runtime.removeContainer(id)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'NotFound') this.#logFailure(`the container ${id}`, error)
    }
  }

  #logFailure(thing: string, error: unknown): void {
    // Calls that run while the kubelet stops fail when its connections are closed.
    if (!this.#isStopped) this.#options.log(`cannot remove ${thing}: ${messageOf(error)}`)
  }
}

const filterOf = (uid: string | undefined) => (uid === undefined ? undefined : { labelSelector: selectPod(uid) })
