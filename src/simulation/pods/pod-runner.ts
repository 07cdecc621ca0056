/**
 * Runs the pods of all simulated nodes with one watch and one timer. Simultaneous changes of a pod are written
 * together; a pod that others change meanwhile is processed once more.
 */
import { Informer } from '../../client/informers/informer.ts'
import { type Pod, pods } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { type Clock, systemClock } from '../../lib/clock/clock.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { isTerminal, type PodEvent, type PodStatus } from '../../node/pods/pod-types.ts'
import { statusPatch } from '../../node/pods/status-patch.ts'
import type { KubeletEvents } from '../kubelet-events.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import { requestsOf } from '../nodes/node-resources.ts'
import { TaskQueue } from '../task-queue.ts'
import { Alarms } from '../timing/alarms.ts'
import { rejectedStatus, rejectionEvent, rejectionOf } from './admission.ts'
import type { BehaviourDefaults } from './behaviour.ts'
import { type Advance, advance, evictPod, type NodeContext } from './lifecycle/advance.ts'
import type { PodMemory } from './lifecycle/pod-memory.ts'
import { podTransform } from './transform-pod.ts'

/** Runs pods by stages instead of the default lifecycle. */
export interface PodStages {
  /** Returns undefined if no stage applies to the pod. `requeueAfter` requeues the pod after so many ms. */
  handle(
    pod: Pod,
    agent: NodeAgent,
    podIPs: () => readonly string[],
    requeueAfter: (ms: number) => void,
  ): Promise<void> | 'waiting' | undefined
  forget(uid: string): void
}

export interface PodRunnerOptions {
  readonly client: RestClient
  readonly events: KubeletEvents
  readonly agent: (nodeName: string) => NodeAgent | undefined
  readonly defaults: (nodeName: string) => BehaviourDefaults
  readonly stages?: PodStages
  readonly log: (line: string) => void
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** A pod on a simulated node. */
interface Run {
  pod: Pod
  memory: PodMemory
  /** The addresses that it has on its node. */
  addresses: readonly string[]
  isWriting: boolean
  /** True while it is queued. The status is computed when its turn comes. */
  isQueued: boolean
  /** True if it changed while it was written. */
  isStale: boolean
  /** True after an event about its invalid annotations. */
  hasReportedProblem: boolean
}

const maxConcurrentWrites = 48
const retryMs = 1_000
const noMemory: PodMemory = new Map()
const byNode = ({ spec }: Pod): string[] => [spec?.nodeName ?? '']

export class PodRunner {
  readonly #options: PodRunnerOptions
  readonly #clock: Clock
  readonly #informer: Informer<Pod>
  readonly #runs = new Map<string, Run>()
  readonly #alarms: Alarms<string>
  /** Retries of writes: by the machine's clock, so that a paused clock does not delay them. */
  readonly #retries = new Alarms<string>((uid) => this.#enqueue(uid))
  readonly #writes = new TaskQueue(maxConcurrentWrites)
  /** Callbacks for single pods, by uid. */
  readonly #watchers = new Map<string, Set<() => void>>()
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: PodRunnerOptions) {
    const { client, log, stages, clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#alarms = new Alarms((uid) => this.#enqueue(uid), clock)
    this.#informer = new Informer({
      client,
      resource: pods,
      fieldSelector: 'spec.nodeName!=',
      transform: podTransform(stages !== undefined),
      log,
    })
    this.#informer.onChange((pod, before) => this.#changed(pod, before))
  }

  /** Resolves when all pods are cached. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = this.#informer.run(this.#stopping.signal, resolve)
    await promise
  }

  async stop(): Promise<void> {
    this.#alarms.stop()
    this.#retries.stop()
    this.#writes.clear()
    this.#stopping.abort()
    await this.#running
  }

  find(namespace: string, name: string): Pod | undefined {
    return this.#informer.get(namespace, name)
  }

  ofNode(name: string): Iterable<Pod> {
    return this.#informer.by(byNode, name)
  }

  /** Processes the pods of a node that was added, has recovered, or has addresses now. */
  nodeChanged({ name }: NodeAgent): void {
    for (const pod of this.ofNode(name))
      if (!isTerminal(pod.status?.phase) || pod.metadata.deletionTimestamp) this.#track(pod)
  }

  /** Calls `callback` on changes of a pod. Returns a function that stops it. */
  onChange(uid: string, callback: () => void): () => void {
    const watchers = this.#watchers.get(uid) ?? new Set()
    this.#watchers.set(uid, watchers.add(callback))
    return () => {
      watchers.delete(callback)
      if (watchers.size === 0) this.#watchers.delete(uid)
    }
  }

  #changed(pod: Pod | undefined, before: Pod | undefined): void {
    for (const callback of this.#watchers.get((pod ?? before)?.metadata.uid ?? '') ?? []) callback()
    if (pod) {
      this.#track(pod)
      return
    }
    const uid = before?.metadata.uid ?? ''
    const run = this.#runs.get(uid)
    this.#runs.delete(uid)
    this.#alarms.clear(uid)
    this.#retries.clear(uid)
    this.#options.stages?.forget(uid)
    const agent = this.#options.agent(before?.spec?.nodeName ?? '')
    agent?.resources.release(uid)
    if (run) agent?.releaseAddresses(run.addresses, uid)
  }

  #track(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const agent = this.#options.agent(pod.spec?.nodeName ?? '')
    if (!agent) return
    const run = this.#runs.get(uid)
    if (!run) {
      const addresses = pod.spec?.hostNetwork ? [] : (pod.status?.podIPs ?? []).map(({ ip }) => ip)
      agent.markAddressesUsed(addresses, uid)
      // Pods that ran before this process started were admitted.
      if (pod.status?.startTime && !isTerminal(pod.status.phase)) agent.resources.reserve(uid, requestsOf(pod))
      this.#runs.set(uid, {
        pod,
        memory: noMemory,
        addresses,
        isWriting: false,
        isQueued: false,
        isStale: false,
        hasReportedProblem: false,
      })
    } else if (isOlder(pod, run.pod)) return
    else run.pod = pod
    this.#enqueue(uid)
  }

  #enqueue(uid: string): void {
    const run = this.#runs.get(uid)
    if (!run || run.isQueued) return
    if (run.isWriting) {
      run.isStale = true
      return
    }
    run.isQueued = true
    this.#writes.add(() => {
      run.isQueued = false
      // It may have been evicted while it was queued.
      if (run.isWriting) run.isStale = true
      else if (this.#runs.get(uid) === run) return this.#process(uid, run)
    })
  }

  /** Processes a pod; resolves when its status is written. Never rejects. */
  #process(uid: string, run: Run): Promise<void> | undefined {
    const agent = this.#options.agent(run.pod.spec?.nodeName ?? '')
    // A failing node reports nothing.
    if (!agent?.isWorking) return
    // Without a network nothing starts; nodeChanged is called when there is one.
    if (
      !agent.hasNetwork &&
      !run.pod.spec?.hostNetwork &&
      !run.pod.status?.podIP &&
      !run.pod.metadata.deletionTimestamp
    )
      return
    run.isStale = false
    const requeueAfter = (ms: number): void => this.#alarms.setAfter(uid, ms)
    const staged = this.#options.stages?.handle(run.pod, agent, () => this.#addressesFor(run, agent), requeueAfter)
    if (staged === 'waiting') return
    return staged ? this.#write(uid, run, () => staged) : this.#advance(uid, run, agent)
  }

  #advance(uid: string, run: Run, agent: NodeAgent): Promise<void> | undefined {
    const { pod } = run
    const now = this.#clock.now()
    const before = pod.status ?? {}
    if (!before.startTime && !pod.metadata.deletionTimestamp && !isTerminal(before.phase)) {
      const rejection = rejectionOf(pod, agent)
      if (rejection)
        return this.#write(uid, run, () =>
          this.#writeStatus(run, rejectedStatus(before, rejection, now), [rejectionEvent(rejection)]),
        )
      agent.resources.reserve(uid, requestsOf(pod))
    }
    return this.#apply(uid, run, agent, advance(pod, run.memory, this.#contextOf(run, agent, now)))
  }

  /** Evicts the pod for the node. Returns false if it cannot be evicted now, for example while it is written. */
  evict({ metadata: { uid = '' } }: Pod, message: string): boolean {
    const run = this.#runs.get(uid)
    const agent = this.#options.agent(run?.pod.spec?.nodeName ?? '')
    if (
      !run ||
      !agent?.isWorking ||
      run.isWriting ||
      isTerminal(run.pod.status?.phase) ||
      run.pod.metadata.deletionTimestamp
    )
      return false
    void this.#apply(
      uid,
      run,
      agent,
      evictPod(run.pod, run.memory, message, this.#contextOf(run, agent, this.#clock.now())),
    )
    return true
  }

  #contextOf(run: Run, agent: NodeAgent, now: number): NodeContext {
    return {
      now,
      hostIP: agent.address,
      podIPs: run.pod.spec?.hostNetwork ? [agent.address] : this.#addressesFor(run, agent),
      defaults: this.#options.defaults(agent.name),
      problem: (words: string) => this.#reportProblem(run, words),
    }
  }

  /** Writes the result of a step; resolves when it is written. Never rejects. */
  #apply(
    uid: string,
    run: Run,
    agent: NodeAgent,
    { status, memory, events, nextAt, canDelete: isGone }: Advance,
  ): Promise<void> | undefined {
    const { pod } = run
    const before = pod.status ?? {}
    if (nextAt === undefined) this.#alarms.clear(uid)
    else this.#alarms.set(uid, nextAt)
    if (isTerminal(status.phase)) {
      agent.resources.release(uid)
      agent.releaseAddresses(run.addresses, uid)
    }
    if (status === before && !isGone) {
      run.memory = memory
      return
    }
    const patch = statusPatch(before, status, 'all')
    if (!patch && !isGone && events.length === 0) {
      run.memory = memory
      return
    }
    return this.#write(uid, run, async () => {
      if (patch) await this.#patch(run, patch)
      run.memory = memory
      for (const event of events) this.#record(pod, event)
      if (isGone) await this.#remove(pod)
    })
  }

  /** The pod's addresses, allocated when first needed. A pod that has ended has released them. */
  #addressesFor(run: Run, agent: NodeAgent): readonly string[] {
    const { pod } = run
    if (run.addresses.length === 0 && !isTerminal(pod.status?.phase) && agent.hasNetwork)
      run.addresses = agent.takeAddresses(pod.metadata.uid ?? '')
    return run.addresses
  }

  async #write(uid: string, run: Run, write: () => Promise<void>): Promise<void> {
    run.isWriting = true
    try {
      await write()
    } catch (error) {
      this.#handleError(uid, run, error)
    }
    run.isWriting = false
    if (run.isStale) this.#enqueue(uid)
  }

  #handleError(uid: string, run: Run, error: unknown): void {
    if (this.#stopping.signal.aborted) return
    // The watch delivers a deleted or replaced pod.
    if (error instanceof StatusError && (error.code === 404 || error.code === 409)) return
    this.#retries.setAfter(uid, retryMs * (1 + Math.random()))
    const { namespace, name } = run.pod.metadata
    if (error instanceof StatusError)
      this.#options.log(`cannot write the status of pod ${namespace}/${name}: ${error.message}`)
  }

  async #writeStatus(run: Run, status: PodStatus, events: readonly PodEvent[]): Promise<void> {
    const patch = statusPatch(run.pod.status ?? {}, status, 'all')
    if (patch) await this.#patch(run, patch)
    for (const event of events) this.#record(run.pod, event)
  }

  async #patch(run: Run, status: object): Promise<void> {
    const { namespace = '', name = '', uid } = run.pod.metadata
    const written = await this.#options.client.patch(
      pods,
      namespace,
      name,
      { metadata: { uid }, status },
      'strategic',
      'status',
    )
    // Used until the watch delivers the same version.
    if (!isOlder(run.pod, written)) return
    run.pod = {
      ...run.pod,
      metadata: { ...run.pod.metadata, resourceVersion: written.metadata.resourceVersion },
      status: written.status,
    }
  }

  /** Deletes a pod that has ended, as kubelets do: immediately, with its uid as precondition. */
  async #remove({ metadata: { namespace = '', name = '', uid } }: Pod): Promise<void> {
    await this.#options.client.delete(pods, namespace, name, { uid, gracePeriodSeconds: 0 })
  }

  #reportProblem(run: Run, message: string): void {
    if (run.hasReportedProblem) return
    run.hasReportedProblem = true
    this.#record(run.pod, { type: 'Warning', reason: 'InvalidSimulation', message })
  }

  #record(pod: Pod, { type, reason, message, fieldPath }: PodEvent): void {
    this.#options.events.ofPod(pod, type, reason, message, fieldPath)
  }
}

/** Returns true if the first state is older than the second (KEP-5504: resource versions can be compared). */
function isOlder(
  { metadata: { resourceVersion: version = '' } }: Pod,
  { metadata: { resourceVersion: known = '' } }: Pod,
): boolean {
  return version.length === known.length ? version < known : version.length < known.length
}
