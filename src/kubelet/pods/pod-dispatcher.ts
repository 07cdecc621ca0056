/** Hands the pods of this node to their workers, in the order of their changes: new ones if the node admits them. */

import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Rejection } from '../admission/rejection.ts'
import { rejectedStatus } from '../admission/rejection.ts'
import type { PodAllocations } from '../allocation/pod-allocations.ts'
import type { PodEvents } from '../containers/container-events.ts'
import { isTerminal, type Pod, podName, statusOf } from '../pod-types.ts'
import type { StatusWriter } from '../status/status-writer.ts'
import type { PodWorkers } from '../workers/pod-workers.ts'

export interface PodDispatcherOptions {
  readonly workers: Pick<PodWorkers, 'add' | 'update' | 'replace' | 'remove' | 'find'>
  /** The resources of the node that pods hold. */
  readonly allocations: Pick<PodAllocations, 'update' | 'release'>
  readonly status: Pick<StatusWriter, 'set' | 'statusOf' | 'forget'>
  readonly events: Pick<PodEvents, 'ofPod'>
  /** Resolves with the reason to reject a pod; undefined if it is admitted. */
  readonly admit: (pod: Pod) => Promise<Rejection | undefined>
  readonly log: (line: string) => void
  readonly now: () => number
}

export class PodDispatcher {
  readonly #options: PodDispatcherOptions
  /** The UIDs of pods that the node has rejected. */
  readonly #rejected = new Set<string>()
  #queue: Promise<void> = Promise.resolve()

  constructor(options: PodDispatcherOptions) {
    this.#options = options
  }

  /** Takes a change: `pod` is undefined after a removal, `old` for a new pod. */
  change(pod: Pod | undefined, old: Pod | undefined): void {
    const name = podName((pod ?? old)!)
    this.#queue = this.#queue
      .then(() => this.#take(pod, old))
      .catch((error: Error) => this.#options.log(`cannot start the pod ${name}: ${error.message}`))
  }

  /** Resolves when all changes up to now have reached the workers. */
  async settled(): Promise<void> {
    await this.#queue
  }

  async #take(pod: Pod | undefined, old: Pod | undefined): Promise<void> {
    if (pod && old) this.#update(pod, old)
    else if (pod) await this.#add(pod)
    else if (old) this.#remove(old)
  }

  async #add(pod: Pod): Promise<void> {
    const { workers, admit, allocations } = this.#options
    const phase = this.#statusOf(pod).phase
    const rejection = pod.metadata.deletionTimestamp || isTerminal(phase) ? undefined : await admit(pod)
    if (rejection) this.#reject(pod, rejection)
    else {
      allocations.update(pod)
      workers.add(pod)
    }
  }

  #update(pod: Pod, old: Pod): void {
    const uid = pod.metadata.uid ?? ''
    if (this.#rejected.has(uid) && !pod.metadata.deletionTimestamp) return
    const { workers, allocations } = this.#options
    allocations.update(pod)
    if (this.#isOwnWrite(pod, old)) workers.replace(pod)
    else workers.update(pod)
  }

  /** True if the only change is the status that this kubelet has written: there is nothing to do for it. */
  #isOwnWrite(pod: Pod, old: Pod): boolean {
    const status = this.#options.status.statusOf(pod.metadata.uid ?? '')
    return (
      status !== undefined &&
      semanticallyEqual(pod.status, status) &&
      semanticallyEqual(withoutStatus(pod), withoutStatus(old))
    )
  }

  #remove(pod: Pod): void {
    const { workers, status, allocations } = this.#options
    const uid = pod.metadata.uid ?? ''
    this.#rejected.delete(uid)
    allocations.release(uid)
    workers.remove(pod)
    if (!workers.find(uid)) status.forget(uid)
  }

  #reject(pod: Pod, rejection: Rejection): void {
    const { status, events, now } = this.#options
    this.#rejected.add(pod.metadata.uid ?? '')
    events.ofPod(pod, 'Warning', rejection.reason, rejection.message)
    status.set(pod, rejectedStatus(pod, this.#statusOf(pod), rejection, now()))
  }

  /** The newest status, which may not be written yet. */
  #statusOf(pod: Pod) {
    return this.#options.status.statusOf(pod.metadata.uid ?? '') ?? statusOf(pod)
  }
}

const withoutStatus = ({ metadata: { resourceVersion, ...metadata }, status, ...rest }: Pod): object => ({
  ...rest,
  metadata,
})
