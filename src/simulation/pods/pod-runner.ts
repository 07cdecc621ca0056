/**
 * Runs the pods of all simulated nodes: one watch, one timer, and for each pod the next thing that happens to it. What
 * happens together is written together; what somebody else writes in between is seen, and the pod is looked at again.
 */
import { Informer } from '../../client/informers/informer.ts'
import { type Pod, pods } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { Lane } from '../lane.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import { requestsOf } from '../nodes/room.ts'
import { Alarms } from '../timing/alarms.ts'
import type { ToldEvents } from '../told-events.ts'
import { refusalEvent, refusalOf, refusedStatus } from './admission.ts'
import type { BehaviourDefaults } from './behaviour.ts'
import { podKeeper } from './kept-pod.ts'
import { type Advance, advance, evicted, type Surroundings } from './lifecycle/advance.ts'
import { isTerminal, type PodEvent, type PodMemory, type PodStatus } from './lifecycle/pod-parts.ts'
import { statusPatch } from './status-patch.ts'

/** What becomes of a pod instead of its usual way, where stages say so. */
export interface PodStages {
  /** Whether a stage cares for the pod: then nothing else does. `again` has it looked at once more, in so many ms. */
  handle(
    pod: Pod,
    agent: NodeAgent,
    podIPs: () => readonly string[],
    again: (ms: number) => void,
  ): Promise<void> | 'waiting' | undefined
  forget(uid: string): void
}

export interface PodRunnerOptions {
  readonly client: RestClient
  readonly events: ToldEvents
  readonly agent: (nodeName: string) => NodeAgent | undefined
  readonly defaults: (nodeName: string) => BehaviourDefaults
  readonly stages?: PodStages
  readonly log: (line: string) => void
  readonly now?: () => number
}

/** A pod on a simulated node. */
interface Run {
  pod: Pod
  memory: PodMemory
  /** Those that it has taken on its node. */
  addresses: readonly string[]
  isWriting: boolean
  /** It waits for its turn: what is to be written is decided then, by what is true then. */
  isWaiting: boolean
  /** Whether something has happened while it was written. */
  isStale: boolean
  /** What is wrong with its annotations has been told. */
  hasComplained: boolean
}

const writesAtOnce = 48
const againMs = 1_000
const nothingRemembered: PodMemory = new Map()
const byNode = ({ spec }: Pod): string[] => [spec?.nodeName ?? '']

export class PodRunner {
  readonly #options: PodRunnerOptions
  readonly #now: () => number
  readonly #informer: Informer<Pod>
  readonly #runs = new Map<string, Run>()
  readonly #alarms: Alarms<string>
  readonly #lane = new Lane(writesAtOnce)
  /** Who follows single pods, by their uids. */
  readonly #watchers = new Map<string, Set<() => void>>()
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: PodRunnerOptions) {
    const { client, log, stages, now = Date.now } = options
    this.#options = options
    this.#now = now
    this.#alarms = new Alarms((uid) => this.#look(uid), now)
    this.#informer = new Informer({
      client,
      resource: pods,
      fieldSelector: 'spec.nodeName!=',
      transform: podKeeper(stages !== undefined),
      log,
    })
    this.#informer.onChange((pod, before) => this.#changed(pod, before))
  }

  /** Resolves when all pods are known. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = this.#informer.run(this.#stopping.signal, resolve)
    await promise
  }

  async stop(): Promise<void> {
    this.#alarms.stop()
    this.#lane.clear()
    this.#stopping.abort()
    await this.#running
  }

  find(namespace: string, name: string): Pod | undefined {
    return this.#informer.get(namespace, name)
  }

  ofNode(name: string): Iterable<Pod> {
    return this.#informer.by(byNode, name)
  }

  /** Those of a namespace, or all. */
  all(namespace = ''): Iterable<Pod> {
    return namespace ? this.#informer.in(namespace) : this.#informer.all()
  }

  /** A node has come, or works again, or has addresses now: its pods are looked at. */
  nodeChanged({ name }: NodeAgent): void {
    for (const pod of this.ofNode(name))
      if (!isTerminal(pod.status?.phase) || pod.metadata.deletionTimestamp) this.#note(pod)
  }

  /** Told of changes of a pod, until what it returns is called. */
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
      this.#note(pod)
      return
    }
    const uid = before?.metadata.uid ?? ''
    const run = this.#runs.get(uid)
    this.#runs.delete(uid)
    this.#alarms.clear(uid)
    this.#options.stages?.forget(uid)
    const agent = this.#options.agent(before?.spec?.nodeName ?? '')
    agent?.room.giveBack(uid)
    if (run) agent?.giveBackAddresses(run.addresses, uid)
  }

  #note(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const agent = this.#options.agent(pod.spec?.nodeName ?? '')
    if (!agent) return
    const run = this.#runs.get(uid)
    if (!run) {
      const addresses = pod.spec?.hostNetwork ? [] : (pod.status?.podIPs ?? []).map(({ ip }) => ip)
      agent.noteAddresses(addresses, uid)
      // What ran before this process did has been admitted.
      if (pod.status?.startTime && !isTerminal(pod.status.phase)) agent.room.take(uid, requestsOf(pod))
      this.#runs.set(uid, {
        pod,
        memory: nothingRemembered,
        addresses,
        isWriting: false,
        isWaiting: false,
        isStale: false,
        hasComplained: false,
      })
    } else if (isOlder(pod, run.pod)) return
    else run.pod = pod
    this.#look(uid)
  }

  #look(uid: string): void {
    const run = this.#runs.get(uid)
    if (!run || run.isWaiting) return
    if (run.isWriting) {
      run.isStale = true
      return
    }
    run.isWaiting = true
    this.#lane.add(() => {
      run.isWaiting = false
      // It may have been evicted while it waited.
      if (run.isWriting) run.isStale = true
      else if (this.#runs.get(uid) === run) return this.#turn(uid, run)
    })
  }

  /** Does what is to be done now; resolves when it is written. Never rejects. */
  #turn(uid: string, run: Run): Promise<void> | undefined {
    const agent = this.#options.agent(run.pod.spec?.nodeName ?? '')
    // Of a node that does not work, nobody hears anything.
    if (!agent?.isWorking) return
    // Without a network nothing begins; the node tells when it has one.
    if (
      !agent.hasNetwork &&
      !run.pod.spec?.hostNetwork &&
      !run.pod.status?.podIP &&
      !run.pod.metadata.deletionTimestamp
    )
      return
    run.isStale = false
    const again = (ms: number): void => this.#alarms.set(uid, this.#now() + ms)
    const staged = this.#options.stages?.handle(run.pod, agent, () => this.#addressesFor(run, agent), again)
    if (staged === 'waiting') return
    return staged ? this.#write(uid, run, () => staged) : this.#advance(uid, run, agent)
  }

  #advance(uid: string, run: Run, agent: NodeAgent): Promise<void> | undefined {
    const { pod } = run
    const now = this.#now()
    const before = pod.status ?? {}
    if (!before.startTime && !pod.metadata.deletionTimestamp && !isTerminal(before.phase)) {
      const refusal = refusalOf(pod, agent)
      if (refusal)
        return this.#write(uid, run, () =>
          this.#writeStatus(run, refusedStatus(before, refusal, now), [refusalEvent(refusal)]),
        )
      agent.room.take(uid, requestsOf(pod))
    }
    return this.#conclude(uid, run, agent, advance(pod, run.memory, this.#surroundings(run, agent, now)))
  }

  /**
   * The node drives the pod away, for lack of something. Says whether it does: nothing comes of it while the pod is
   * being written.
   */
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
    void this.#conclude(
      uid,
      run,
      agent,
      evicted(run.pod, run.memory, message, this.#surroundings(run, agent, this.#now())),
    )
    return true
  }

  #surroundings(run: Run, agent: NodeAgent, now: number): Surroundings {
    return {
      now,
      hostIP: agent.address,
      podIPs: run.pod.spec?.hostNetwork ? [agent.address] : this.#addressesFor(run, agent),
      defaults: this.#options.defaults(agent.name),
      problem: (words: string) => this.#complain(run, words),
    }
  }

  /** Writes what has become of the pod; resolves when it is written. Never rejects. */
  #conclude(
    uid: string,
    run: Run,
    agent: NodeAgent,
    { status, memory, events, nextAt, isGone }: Advance,
  ): Promise<void> | undefined {
    const { pod } = run
    const before = pod.status ?? {}
    if (nextAt === undefined) this.#alarms.clear(uid)
    else this.#alarms.set(uid, nextAt)
    if (isTerminal(status.phase)) {
      agent.room.giveBack(uid)
      agent.giveBackAddresses(run.addresses, uid)
    }
    if (status === before && !isGone) {
      run.memory = memory
      return
    }
    const patch = statusPatch(before, status)
    if (!patch && !isGone && events.length === 0) {
      run.memory = memory
      return
    }
    return this.#write(uid, run, async () => {
      if (patch) await this.#patch(run, patch)
      run.memory = memory
      for (const event of events) this.#tell(pod, event)
      if (isGone) await this.#remove(pod)
    })
  }

  /** Its own, taken when they are needed first. A pod that has ended has given them back. */
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
      this.#failed(uid, run, error)
    }
    run.isWriting = false
    if (run.isStale) this.#look(uid)
  }

  #failed(uid: string, run: Run, error: unknown): void {
    if (this.#stopping.signal.aborted) return
    // What has gone, or is another of its name, is told by the watch.
    if (error instanceof StatusError && (error.code === 404 || error.code === 409)) return
    this.#alarms.set(uid, this.#now() + againMs * (1 + Math.random()))
    const { namespace, name } = run.pod.metadata
    if (error instanceof StatusError)
      this.#options.log(`the status of pod ${namespace}/${name} cannot be written: ${error.message}`)
  }

  async #writeStatus(run: Run, status: PodStatus, events: readonly PodEvent[]): Promise<void> {
    const patch = statusPatch(run.pod.status ?? {}, status)
    if (patch) await this.#patch(run, patch)
    for (const event of events) this.#tell(run.pod, event)
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
    // The watch tells it too, and shares it with what the informer keeps; until then, this is what there is.
    if (!isOlder(run.pod, written)) return
    run.pod = {
      ...run.pod,
      metadata: { ...run.pod.metadata, resourceVersion: written.metadata.resourceVersion },
      status: written.status,
    }
  }

  /** As kubelets do it when all has ended: at once, on condition that it is the same pod. */
  async #remove({ metadata: { namespace = '', name = '', uid } }: Pod): Promise<void> {
    await this.#options.client.delete(pods, namespace, name, { uid, gracePeriodSeconds: 0 })
  }

  #complain(run: Run, message: string): void {
    if (run.hasComplained) return
    run.hasComplained = true
    this.#tell(run.pod, { type: 'Warning', reason: 'InvalidSimulation', message })
  }

  #tell(pod: Pod, { type, reason, message, fieldPath }: PodEvent): void {
    this.#options.events.ofPod(pod, type, reason, message, fieldPath)
  }
}

/** Whether a state that is told now was written before one that is known (KEP-5504: versions can be compared). */
function isOlder(
  { metadata: { resourceVersion: told = '' } }: Pod,
  { metadata: { resourceVersion: known = '' } }: Pod,
): boolean {
  return told.length === known.length ? told < known : told.length < known.length
}
