/**
 * The workers of all pods of the node. Containers without a pod, as after a restart, are ended too. Of static pods with
 * one name only one runs: a changed one starts when the former one has ended.
 */
import { keyOf } from '../../client/informers/informer.ts'
import type { PodIdentity } from '../cri/labels.ts'
import { type Pod, specOf } from '../pod-types.ts'
import { isStatic } from '../sources/static-pods/annotations.ts'
import { type PodSteps, PodWorker, type Termination, type WorkerState } from './pod-worker.ts'

export interface PodWorkersOptions {
  readonly steps: PodSteps
  readonly log: (line: string) => void
  readonly schedule: (callback: () => void, ms: number) => () => void
  /** Called when nothing is left of a pod. */
  readonly onFinish?: (pod: Pod) => void
}

/** The grace period of containers whose pod is not known, in seconds. */
const orphanGraceSeconds = 1
const defaultGraceSeconds = 30
/** The maximum time in ms that a stop waits for running steps. */
const stopMs = 10_000

export class PodWorkers {
  readonly #options: PodWorkersOptions
  readonly #workers = new Map<string, PodWorker>()
  /** Pods that have been cleaned up: a late update does not start them again. */
  readonly #finished = new Set<string>()
  /** Pods that wait for the end of one with their UID, or of a static pod with their name. */
  readonly #waiting = new Map<string, Pod>()

  constructor(options: PodWorkersOptions) {
    this.#options = options
  }

  /** The pods with a worker. */
  get pods(): Pod[] {
    return [...this.#workers.values()].map(({ pod }) => pod)
  }

  /** The pods with a worker, and the states of their workers. */
  get states(): { readonly pod: Pod; readonly state: WorkerState }[] {
    return [...this.#workers.values()].map(({ pod, state }) => ({ pod, state }))
  }

  /** The pods that use resources of the node: they run, may start containers, or end. */
  get active(): Pod[] {
    return [...this.#workers.values()]
      .filter(({ state }) => state === 'syncing' || state === 'terminating')
      .map(({ pod }) => pod)
  }

  /** True if a pod has a worker, or waits for one. */
  has(uid: string): boolean {
    return this.#workers.has(uid) || this.#waiting.has(uid)
  }

  find(uid: string): PodWorker | undefined {
    return this.#workers.get(uid)
  }

  /** Takes a new pod. One that was removed before and is not cleaned up yet starts after that. */
  add(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    this.#finished.delete(uid)
    if (this.#workers.has(uid) || this.#hasNamesake(pod)) this.#waiting.set(uid, pod)
    else this.#start(pod).wake()
  }

  /** Takes a newer version of a pod. */
  update(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const worker = this.#workers.get(uid)
    if (this.#waiting.has(uid)) this.#waiting.set(uid, pod)
    else if (worker) worker.update(pod)
    else if (!this.#finished.has(uid)) this.add(pod)
  }

  /** Takes a newer version of a pod that needs no step, such as with the status that the kubelet has written. */
  replace(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    if (this.#waiting.has(uid)) this.#waiting.set(uid, pod)
    else this.#workers.get(uid)?.replace(pod)
  }

  /** The pod no longer exists in its source: it ends, if it has not, within its own grace period. */
  remove(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    this.#finished.delete(uid)
    this.#waiting.delete(uid)
    const { deletionGracePeriodSeconds } = pod.metadata
    const graceSeconds = deletionGracePeriodSeconds ?? specOf(pod).terminationGracePeriodSeconds ?? defaultGraceSeconds
    this.#workers.get(uid)?.terminate({ graceSeconds: Math.max(1, graceSeconds) })
  }

  /** Ends what the runtime has of a pod that no source has. */
  endOrphan({ uid, name, namespace }: PodIdentity): void {
    if (this.#workers.has(uid) || this.#waiting.has(uid)) return
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { uid, name, namespace }, spec: { containers: [] } }
    this.#start(pod).terminate({ graceSeconds: orphanGraceSeconds })
  }

  /** Resolves when no container of the pod runs. */
  async terminate(uid: string, termination: Termination): Promise<void> {
    const worker = this.#workers.get(uid)
    worker?.terminate(termination)
    await worker?.ended
  }

  /** Terminates a pod; resolves when nothing is left of it. */
  async end(uid: string, termination: Termination): Promise<void> {
    const worker = this.#workers.get(uid)
    worker?.terminate(termination)
    await worker?.finished
  }

  /** The runtime has another state of a pod. */
  runtimeChanged(uid: string): void {
    this.#workers.get(uid)?.runtimeChanged()
  }

  /** Something else of a pod has changed, as the result of a probe. */
  wake(uid: string): void {
    this.#workers.get(uid)?.wake()
  }

  /** Resolves when the running steps are over, or after a while. Containers continue. */
  async stop(): Promise<void> {
    const stopped = [...this.#workers.values()].map((worker) => worker.stop())
    this.#waiting.clear()
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#options.schedule(resolve, stopMs)
    await Promise.race([Promise.all(stopped), promise])
    cancel()
  }

  /** Returns true if a static pod with this name has not been cleaned up yet. */
  #hasNamesake(pod: Pod): boolean {
    if (!isStatic(pod)) return false
    return [...this.#workers.values()].some((one) => isStatic(one.pod) && keyOf(one.pod) === keyOf(pod))
  }

  #start(pod: Pod): PodWorker {
    const uid = pod.metadata.uid ?? ''
    const worker: PodWorker = new PodWorker(pod, {
      ...this.#options,
      onFinish: () => {
        this.#workers.delete(uid)
        this.#finished.add(uid)
        this.#options.onFinish?.(worker.pod)
        this.#startWaiting()
      },
    })
    this.#workers.set(uid, worker)
    return worker
  }

  #startWaiting(): void {
    for (const [uid, pod] of [...this.#waiting]) {
      if (this.#workers.has(uid) || this.#hasNamesake(pod)) continue
      this.#waiting.delete(uid)
      this.#finished.delete(uid)
      this.#start(pod).wake()
    }
  }
}
