/**
 * Gives pods their nodes: takes one after the other from the queue, decides with what is known at that moment, and
 * binds in the background. It knows the API alone, by a client and by what a ClusterSource tells.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { SeriesRecorder } from '../client/events/series-recorder.ts'
import { type Pod, pods } from '../client/kinds.ts'
import type { RestClient } from '../client/rest/rest-client.ts'
import { reasonOf } from '../lib/explained-error.ts'
import { SchedulerCache } from './cache/cache.ts'
import { Decider, extenderPlugin, type Unplaced } from './cycle/decide.ts'
import { type Failure, failureOf, refusedOn } from './cycle/failure.ts'
import { fitMessage } from './cycle/fit-error.ts'
import { bind, needsTime, type Placement, permit, reserve, unreserve } from './cycle/placement.ts'
import { PodCycle } from './cycle/pod-cycle.ts'
import { postFilter } from './cycle/post-filter.ts'
import type { ClusterEvent } from './framework/cluster-events.ts'
import type { PostFilterResult } from './framework/cycle.ts'
import type { Extender } from './framework/extender.ts'
import type { Handle, Lister } from './framework/handle.ts'
import type { Registry } from './framework/plugin.ts'
import { PodInfo } from './framework/pods/pod-info.ts'
import { failed, type Refusal } from './framework/status.ts'
import { type AttemptResult, SchedulerMetrics } from './metrics/scheduler-metrics.ts'
import { makeProfile, type Profile, type ProfileSettings } from './profile/profile.ts'
import { NominatedPods } from './queue/nominated-pods.ts'
import { placeFreed } from './queue/object-changes.ts'
import type { BackOff, QueueEntry } from './queue/queue-entry.ts'
import { SchedulingQueue } from './queue/scheduling-queue.ts'
import type { ClusterSource } from './running/cluster-source.ts'
import { noteOf, statusChangeOf } from './running/failure-words.ts'
import { PreparingPods } from './running/preparing-pods.ts'
import { StatusWriter } from './running/status-writer.ts'
import { WaitingPods } from './running/waiting-pods.ts'
import { watchCluster } from './running/watch-cluster.ts'

export interface SchedulerOptions {
  readonly client: RestClient
  readonly source: ClusterSource
  readonly profiles: readonly ProfileSettings[]
  readonly plugins: Registry
  readonly extenders?: readonly Extender[]
  readonly backOff: BackOff
  /** 0 chooses by the size of the cluster. */
  readonly percentageOfNodesToScore?: number
  readonly log: (line: string) => void
  readonly now?: () => number
  readonly random?: () => number
}

/** The scheduler lets others of its thread work after so long. Milliseconds. */
const sliceMs = 10
/** While so many pods are being bound no more are decided on. */
const mostBinding = 512
/** At the end, bindings get so long. Milliseconds. */
const bindingGraceMs = 2_000

export class Scheduler {
  readonly metrics = new SchedulerMetrics()
  readonly cache: SchedulerCache
  readonly queue: SchedulingQueue
  readonly nominated = new NominatedPods((pod, node) => this.#leaves(pod, node))
  /** By scheduler name. */
  readonly profiles: ReadonlyMap<string, Profile>
  readonly #options: SchedulerOptions
  readonly #now: () => number
  readonly #waitingPods = new WaitingPods()
  readonly #preparingPods = new PreparingPods()
  readonly #writer: StatusWriter
  readonly #recorders = new Map<string, SeriesRecorder>()
  readonly #decider: Decider
  readonly #pods: Lister<Pod>
  /** What was told while extenders were asked. */
  readonly #held: (() => void)[] = []
  /** Questions to extenders that are under way, for one pod. */
  #deciding = 0
  /** When the change of the cluster that is being told of came. */
  #changeBegan = 0
  #isPlanned = false
  #isRunning = false
  #binding = 0

  /** Throws an ExplainedError for profiles that cannot be. */
  constructor(options: SchedulerOptions) {
    const {
      client,
      source,
      backOff,
      extenders = [],
      percentageOfNodesToScore = 0,
      now = Date.now,
      random = Math.random,
      log,
    } = options
    this.#options = options
    this.#now = now
    this.cache = new SchedulerCache({ now })
    this.#writer = new StatusWriter(client, log)
    this.#pods = source.lister(pods)
    this.profiles = new Map(options.profiles.map((settings) => [settings.schedulerName, this.#profile(settings)]))
    const [sorter] = [...this.profiles.values()].flatMap(({ steps }) => steps.queueSort)
    this.queue = new SchedulingQueue({
      isBefore: (a, b) => sorter!.plugin.less!(a, b),
      profileOf: ({ pod }) => this.#profileOf(pod),
      backOff,
      onReady: () => this.#plan(),
      onIncoming: (queue, event) => this.metrics.incoming(queue, event),
      now,
      log,
    })
    this.metrics.watch(this.queue, this.cache, () => this.#binding)
    this.#decider = new Decider({
      extenders,
      percentageOfNodesToScore,
      random,
      nominatedNode: (uid) => this.nominated.nodeOf(uid),
    })
    watchCluster({
      source,
      cache: this.cache,
      queue: this.queue,
      nominated: this.nominated,
      waitingPods: this.#waitingPods,
      preparingPods: this.#preparingPods,
      resources: new Set([...this.profiles.values()].flatMap(({ registrations }) => [...registrations.resources])),
      isOurs: (pod) => this.#profileOf(pod) !== undefined,
      apply: (change) => this.#apply(change),
      tell: (event) => this.#tell(event),
      handled: (event) => this.metrics.handled(event, this.#changeBegan),
    })
  }

  /** Begins when all is known. */
  async start(): Promise<void> {
    await this.#options.source.synced()
    this.#isRunning = true
    this.#plan()
  }

  /** Decides on nothing more. Resolves when what is being bound is bound, or after two seconds. */
  async stop(): Promise<void> {
    this.#isRunning = false
    this.queue.stop()
    this.#waitingPods.stop()
    const deadline = performance.now() + bindingGraceMs
    while (this.#binding > 0 && performance.now() < deadline) await delay(10)
    for (const recorder of this.#recorders.values()) recorder.stop()
  }

  #profile(settings: ProfileSettings): Profile {
    const { client, source, plugins, extenders = [], log, now = Date.now, random = Math.random } = this.#options
    const recorder = new SeriesRecorder(client, settings.schedulerName, log)
    this.#recorders.set(settings.schedulerName, recorder)
    const handle: Handle = {
      profile: settings.schedulerName,
      client,
      snapshot: this.cache,
      lister: (resource) => source.lister(resource),
      nominatedPods: (node) => this.nominated.on(node),
      nominatedNode: (uid) => this.nominated.nodeOf(uid),
      clearNominations: (cleared) => {
        for (const { uid } of cleared) this.nominated.delete(uid)
      },
      waitingPods: this.#waitingPods,
      preparingPods: this.#preparingPods,
      extenders,
      activate: (keys) => this.queue.activate(keys),
      record: (event) => recorder.record(event),
      countPreemption: (victims) => this.metrics.preempted(victims),
      now,
      random,
      log,
    }
    const profile = makeProfile(settings, plugins, handle, this.metrics.plugins)
    if (extenders.length > 0) profile.registrations.add(extenderPlugin)
    return profile
  }

  #profileOf({ spec }: Pod): Profile | undefined {
    return this.profiles.get(spec?.schedulerName || 'default-scheduler')
  }

  #apply(change: () => void): void {
    if (this.#deciding > 0) this.#held.push(change)
    else this.#change(change)
  }

  #change(change: () => void): void {
    this.#changeBegan = performance.now()
    change()
  }

  #tell(event: ClusterEvent): void {
    this.queue.tell(event, this.profiles.values())
    this.metrics.handled(event, this.#changeBegan)
  }

  /** The pod no longer has, or wants, its place on the node: others may have been refused because of it. */
  #leaves({ pod }: PodInfo, nodeName: string): void {
    this.queue.tell(placeFreed(pod, nodeName), this.profiles.values())
  }

  /** Has the queue worked on soon. */
  #plan(): void {
    if (this.#isPlanned || !this.#isRunning) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.#work()
    })
  }

  /** Schedules for some time, then lets others work. */
  #work(): void {
    const end = performance.now() + sliceMs
    while (this.#isRunning && this.#deciding === 0 && this.#binding < mostBinding) {
      const entry = this.queue.pop()
      if (!entry) return
      this.#scheduleOne(entry)
      if (performance.now() > end) {
        this.#plan()
        return
      }
    }
  }

  /** One attempt; it goes on in the background where somebody has to be asked. */
  #scheduleOne(entry: QueueEntry): void {
    const { pod } = entry
    const profile = this.#profileOf(pod.pod)
    if (!profile || pod.pod.metadata.deletionTimestamp || this.cache.isAssumed(pod.uid)) {
      this.queue.done(pod.uid)
      if (!profile || !pod.pod.metadata.deletionTimestamp) return
      const note = `skip schedule deleting pod: ${pod.key}`
      profile.handle.record({
        regarding: pod.pod,
        type: 'Warning',
        reason: 'FailedScheduling',
        action: 'Scheduling',
        note,
      })
      return
    }
    const began = performance.now()
    const cycle = new PodCycle(profile, pod, this.cache)
    this.#whenKnown(
      () => this.#decider.decide(cycle),
      (decision) => {
        this.metrics.decided(performance.now() - began)
        cycle.countFilters()
        if ('node' in decision) this.#place(entry, { cycle, node: decision.node.name }, began)
        else this.#makeRoom(entry, cycle, decision, began)
      },
      (error) => {
        this.#failed(entry, cycle, began, failureOf(error, cycle))
      },
    )
  }

  /** Carries on at once if the answer is there; if it has to be waited for, nothing changes until it has come. */
  #whenKnown<T>(ask: () => T | Promise<T>, next: (answer: T) => void, refused: (error: unknown) => void): void {
    let answer: T | Promise<T>
    try {
      answer = ask()
    } catch (error) {
      refused(error)
      return
    }
    if (!(answer instanceof Promise)) {
      next(answer)
      return
    }
    this.#deciding++
    void answer.then(next, refused).finally(() => this.#decided())
  }

  /** What was told in between happens now. */
  #decided(): void {
    if (--this.#deciding > 0) return
    for (const change of this.#held.splice(0)) this.#change(change)
    this.#plan()
  }

  /** No node will do: PostFilter may make room on one. */
  #makeRoom(entry: QueueEntry, cycle: PodCycle, { diagnosis, refusedBy, pendingFor }: Unplaced, began: number): void {
    const conclude = (result: PostFilterResult): void => {
      const message = fitMessage({ ...diagnosis, postFilterMessage: result.status?.reasons.join(', ') })
      this.#failed(entry, cycle, began, {
        reason: 'Unschedulable',
        message,
        refusedBy,
        pendingFor,
        nominatedNode: result.nominatedNode,
      })
    }
    this.#whenKnown(
      () => postFilter(cycle, diagnosis.refusals),
      conclude,
      (error) => {
        this.#options.log(`no room could be made for pod ${cycle.pod.key}: ${reasonOf(error)}`)
        conclude({ status: failed(error) })
      },
    )
  }

  #place(entry: QueueEntry, placement: Placement, began: number): void {
    const { cycle, node } = placement
    this.cache.assume(cycle.pod, node)
    this.nominated.delete(cycle.pod.uid, node)
    const refusal = reserve(placement)
    const permission = refusal ? { refusal, timeouts: noTimeouts } : permit(placement)
    if (permission.refusal) {
      this.#undo(placement)
      this.#failed(entry, cycle, began, refusedOn(permission.refusal, node))
      return
    }
    void this.#bind(entry, placement, permission.timeouts, began)
  }

  async #bind(
    entry: QueueEntry,
    placement: Placement,
    timeouts: ReadonlyMap<string, number>,
    began: number,
  ): Promise<void> {
    const { cycle, node } = placement
    const { pod, profile } = cycle
    const permitted = timeouts.size > 0 ? this.#permitted(placement, timeouts) : undefined
    const takesTime = permitted !== undefined || needsTime(placement)
    if (takesTime) await this.#tellExpected(pod, node)
    let refusal = permitted && (await permitted)
    if (!refusal) {
      // What is refused from here on is no matter of the cluster's state.
      this.queue.done(pod.uid)
      this.#binding++
      try {
        refusal = await bind(placement, this.#options.extenders ?? [], this.#preparingPods)
      } finally {
        this.#binding--
      }
      if (this.queue.hasReady) this.#plan()
    }
    this.#apply(() => {
      if (refusal) {
        this.#undo(placement)
        this.#leaves(pod, node)
        this.#failed(entry, cycle, began, refusedOn(refusal, node), takesTime ? node : undefined)
        return
      }
      this.cache.finishBinding(pod)
      const note = `Successfully assigned ${pod.key} to ${node}`
      profile.handle.record({ regarding: pod.pod, type: 'Normal', reason: 'Scheduled', action: 'Binding', note })
      this.#count('scheduled', profile, began)
      this.metrics.scheduled(entry.attempts, this.#now() - (entry.firstTriedAt ?? this.#now()))
    })
  }

  async #permitted(
    { cycle: { pod }, node }: Placement,
    timeouts: ReadonlyMap<string, number>,
  ): Promise<Refusal | undefined> {
    const began = performance.now()
    const refusal = await this.#waitingPods.wait(pod, node, timeouts)
    this.metrics.permitted(refusal ? 'Unschedulable' : 'Success', performance.now() - began)
    return refusal
  }

  /**
   * Says in the status where the pod is about to go, so that others (autoscalers, say) know of it while it is being
   * prepared (KEP-5278).
   */
  async #tellExpected({ pod, namespace, name, key }: PodInfo, node: string): Promise<void> {
    if (pod.status?.nominatedNodeName === node) return
    const change = { metadata: { uid: pod.metadata.uid }, status: { nominatedNodeName: node } }
    try {
      await this.#options.client.patch(pods, namespace, name, change, 'strategic', 'status')
    } catch (error) {
      this.#options.log(`the status of pod ${key} could not be written: ${reasonOf(error)}`)
    }
  }

  #undo(placement: Placement): void {
    unreserve(placement)
    this.cache.forget(placement.cycle.pod)
  }

  #count(result: AttemptResult, { schedulerName }: Profile, began: number): void {
    this.metrics.attempted(result, schedulerName, performance.now() - began)
  }

  /**
   * The pod waits for another attempt, and everybody is told why. `expectedOn`: the node that its status names, though
   * that may not be known here yet.
   */
  #failed(
    entry: QueueEntry,
    { pod: tried, profile }: PodCycle,
    began: number,
    failure: Failure,
    expectedOn = '',
  ): void {
    const { reason, refusedBy = nobody, pendingFor = nobody, nominatedNode } = failure
    this.#count(reason === 'Unschedulable' ? 'unschedulable' : 'error', profile, began)
    const current = this.#pods.get(tried.namespace, tried.name)
    if (!current || current.metadata.uid !== tried.pod.metadata.uid || current.spec?.nodeName) {
      this.queue.done(tried.uid)
      return
    }
    const pod = current === tried.pod ? tried : new PodInfo(current)
    entry.refusedBy = refusedBy
    entry.pendingFor = pendingFor
    const nominatedBefore = this.nominated.nodeOf(pod.uid) ?? expectedOn
    this.nominated.set(pod, nominatedNode ?? current.status?.nominatedNodeName ?? '')
    this.queue.putBack(entry, pod)
    profile.handle.record({
      regarding: current,
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note: noteOf(failure),
    })
    const change = statusChangeOf(current, failure, nominatedBefore, this.#now())
    if (change) this.#writer.write(pod, change)
  }
}

const noTimeouts: ReadonlyMap<string, number> = new Map()
const nobody: ReadonlySet<string> = new Set()
