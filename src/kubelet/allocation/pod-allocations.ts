/**
 * The resources that the node has allocated to its pods. Those of a spec that has changed are allocated when they fit;
 * until then the pod has its former ones, and its resize is pending (KEP-1287).
 */
import { podRequests } from '../../api/core/pod/resources/pod-resources.ts'
import { compareQuantities } from '../../machinery/values/quantity.ts'
import { isTerminal, type Pod, podName, statusOf } from '../pod-types.ts'
import { type PodResources, resourcesOfSpec, resourcesOfStatus, withResources } from './pod-resources.ts'
import type { ResizeConditions } from './resize-conditions.ts'
import { resizeMessage } from './resize-message.ts'

/** The reason why a resize is not possible: now (`Deferred`), or never on this node. */
export interface Refusal {
  readonly reason: 'Deferred' | 'Infeasible'
  readonly message: string
}

export interface PodAllocationsOptions {
  readonly record: {
    get(uid: string): PodResources | undefined
    set(uid: string, resources: PodResources): void
    delete(uid: string): void
    retain(isKnown: (uid: string) => boolean): void
  }
  readonly conditions: ResizeConditions
  readonly events: { ofPod(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void }
  /** All pods that the node should run. */
  readonly pods: () => readonly Pod[]
  /** Returns the reason why a pod with new resources does not fit beside the others; undefined if it does. */
  readonly refusal: (pod: Pod, others: readonly Pod[]) => Refusal | undefined
  /** Called when a pod has to be synced. */
  readonly changed: (uid: string) => void
  readonly schedule: (callback: () => void, ms: number) => () => void
  readonly log: (line: string) => void
}

/** The interval in ms at which deferred resizes are tried again, even if nothing of other pods has changed. */
const retryMs = 180_000

export class PodAllocations {
  readonly #options: PodAllocationsOptions
  /** The UIDs of pods whose resize is deferred. */
  readonly #pending = new Set<string>()
  /** False until all pods of the node are known: before, free resources are not. */
  #isReady = false
  #cancel: () => void = () => {}

  constructor(options: PodAllocationsOptions) {
    this.#options = options
  }

  /** The pod with its allocated resources instead of those that its spec asks for. */
  allocatedPod(pod: Pod): Pod {
    const known = this.#options.record.get(pod.metadata.uid ?? '')
    return known ? withResources(pod, known) : pod
  }

  /** The pods that hold resources of the node, each with its allocated ones. */
  allocatedPods(): Pod[] {
    const { pods, record } = this.#options
    return pods()
      .filter((pod) => record.get(pod.metadata.uid ?? '') && !isTerminal(statusOf(pod).phase))
      .map((pod) => this.allocatedPod(pod))
  }

  /** Takes a pod that the node has admitted, or one that has changed. */
  update(pod: Pod): void {
    const { record, conditions } = this.#options
    const uid = pod.metadata.uid ?? ''
    if (isTerminal(statusOf(pod).phase)) {
      this.release(uid)
      return
    }
    if (!record.get(uid)) {
      conditions.adopt(pod)
      this.#allocate(pod, hasRun(pod) ? resourcesOfStatus(pod) : resourcesOfSpec(pod))
    }
    if (this.allocatedPod(pod) === pod) {
      this.#pending.delete(uid)
      if (conditions.clear(uid, 'PodResizePending')) this.#options.changed(uid)
      return
    }
    this.#pending.add(uid)
    this.#retry()
  }

  /** A pod has released its resources: they are free for resizes of others. */
  release(uid: string): void {
    const { record, conditions } = this.#options
    this.#pending.delete(uid)
    conditions.forget(uid)
    if (!record.get(uid)) return
    record.delete(uid)
    this.#retry()
  }

  /** All pods of the node are known: pending resizes are tried, and records of other pods are forgotten. */
  start(): void {
    const known = new Set(this.#options.pods().map(({ metadata }) => metadata.uid))
    this.#options.record.retain((uid) => known.has(uid))
    this.#isReady = true
    this.#retry()
  }

  /** Resources of pods may have become free, as when a pod has ended or is smaller. */
  retry(): void {
    this.#retry()
  }

  stop(): void {
    this.#cancel()
  }

  #allocate(pod: Pod, resources: PodResources): void {
    this.#options.record.set(pod.metadata.uid ?? '', resources)
  }

  #retry(): void {
    if (!this.#isReady) return
    this.#cancel()
    for (const pod of this.#queue()) this.#resize(pod)
    if (this.#pending.size > 0) this.#cancel = this.#options.schedule(() => this.#retry(), retryMs)
  }

  #resize(pod: Pod): void {
    const { conditions, events, refusal, changed, log } = this.#options
    const { uid = '', generation } = pod.metadata
    const others = this.allocatedPods().filter(({ metadata }) => metadata.uid !== uid)
    const refused = refusal(pod, others)
    if (refused) {
      const { reason, message } = refused
      if (reason === 'Infeasible') this.#pending.delete(uid)
      if (!conditions.setPending(uid, { reason, message, generation })) return
      events.ofPod(pod, 'Warning', `Resize${reason}`, resizeMessage(`Pod resize ${reason}`, pod, generation, message))
      changed(uid)
      return
    }
    try {
      this.#allocate(pod, resourcesOfSpec(pod))
    } catch (error) {
      log(`cannot record the resources of the pod ${podName(pod)}: ${(error as Error).message}`)
      return
    }
    this.#pending.delete(uid)
    conditions.clear(uid, 'PodResizePending')
    // A former error is not that of this resize.
    conditions.clear(uid, 'PodResizeInProgress')
    conditions.setInProgress(uid, { generation })
    events.ofPod(pod, 'Normal', 'ResizeStarted', resizeMessage('Pod resize started', pod, generation))
    changed(uid)
  }

  /** The pods with a pending resize: first those that need no more, then by priority, class and time. */
  #queue(): Pod[] {
    const pending = this.#options.pods().filter(({ metadata }) => this.#pending.has(metadata.uid ?? ''))
    return pending.sort(
      (a, b) =>
        Number(this.#grows(a)) - Number(this.#grows(b)) ||
        (b.spec?.priority ?? 0) - (a.spec?.priority ?? 0) ||
        Number(isGuaranteed(b)) - Number(isGuaranteed(a)) ||
        this.#pendingSince(a) - this.#pendingSince(b),
    )
  }

  #grows(pod: Pod): boolean {
    const old = podRequests(this.allocatedPod(pod))
    const next = podRequests(pod)
    return (['cpu', 'memory'] as const).some((name) => compareQuantities(next[name] ?? '0', old[name] ?? '0') > 0)
  }

  /** In ms since 1970; a pod that is not pending yet comes last. */
  #pendingSince({ metadata }: Pod): number {
    const condition = this.#options.conditions.find(metadata.uid ?? '', 'PodResizePending')
    return condition ? Date.parse(String(condition.lastTransitionTime)) : Number.MAX_SAFE_INTEGER
  }
}

const isGuaranteed = (pod: Pod): boolean => statusOf(pod).qosClass === 'Guaranteed'

const hasRun = (pod: Pod): boolean => (statusOf(pod).containerStatuses ?? []).some(({ containerID }) => containerID)
