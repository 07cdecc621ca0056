/**
 * The scheduler: takes pods from the queue one by one, chooses a node from the state in memory, and binds in the
 * background. It reaches the cluster only through a client and a ClusterSource.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { SeriesRecorder } from '../client/events/series-recorder.ts'
import { type Pod, pods } from '../client/kinds.ts'
import type { RestClient } from '../client/rest/rest-client.ts'
import { type Clock, systemClock } from '../lib/clock/clock.ts'
import { reasonOf } from '../lib/explained-error.ts'
import { SchedulerCache } from './cache/cache.ts'
import { Decider, extenderPlugin, type Unplaced } from './cycle/decide.ts'
import { type Failure, failureOf, failureOnNode } from './cycle/failure.ts'
import { fitMessage } from './cycle/fit-error.ts'
import { bind, hasPreBindWork, type Placement, permit, reserve, unreserve } from './cycle/placement.ts'
import { PodCycle } from './cycle/pod-cycle.ts'
import { postFilter } from './cycle/post-filter.ts'
import type { ClusterEvent } from './framework/cluster-events.ts'
import type { PostFilterResult } from './framework/cycle.ts'
import type { Extender } from './framework/extender.ts'
import type { Handle, Lister } from './framework/handle.ts'
import type { Registry } from './framework/plugin.ts'
import { PodInfo } from './framework/pods/pod-info.ts'
import { failed, type Rejection } from './framework/status.ts'
import { type AttemptResult, SchedulerMetrics } from './metrics/scheduler-metrics.ts'
import { makeProfile, type Profile, type ProfileSettings } from './profile/profile.ts'
import { NominatedPods } from './queue/nominated-pods.ts'
import { placeFreed } from './queue/object-changes.ts'
import type { BackOff, QueueEntry } from './queue/queue-entry.ts'
import { SchedulingQueue } from './queue/scheduling-queue.ts'
import { ChangeGate } from './runtime/change-gate.ts'
import type { ClusterSource } from './runtime/cluster-source.ts'
import { noteOf, statusChangeOf } from './runtime/failure-status.ts'
import { PreparingPods } from './runtime/preparing-pods.ts'
import { StatusWriter } from './runtime/status-writer.ts'
import { WaitingPods } from './runtime/waiting-pods.ts'
import { watchCluster } from './runtime/watch-cluster.ts'

export interface SchedulerOptions {
  readonly client: RestClient
  readonly source: ClusterSource
  readonly profiles: readonly ProfileSettings[]
  readonly plugins: Registry
  readonly extenders?: readonly Extender[]
  readonly backOff: BackOff
  /** Default: 0, which depends on the size of the cluster. */
  readonly percentageOfNodesToScore?: number
  readonly log: (line: string) => void
  /** The clock of the cluster. Default: the machine's. */
  readonly clock?: Clock
  readonly random?: () => number
}

/** The longest time in ms that scheduling blocks the thread. */
const turnMs = 10
/** No further pods are scheduled while so many bindings are in progress. */
const maxBindings = 512
/** How long `stop` waits for bindings in progress. In ms. */
const stopTimeoutMs = 2_000

export class Scheduler {
  readonly metrics = new SchedulerMetrics()
  readonly cache: SchedulerCache
  readonly queue: SchedulingQueue
  readonly nominated = new NominatedPods((pod, node) => this.#wakeOthers(pod, node))
  /** By scheduler name. */
  readonly profiles: ReadonlyMap<string, Profile>
  readonly #options: SchedulerOptions
  readonly #clock: Clock
  readonly #waitingPods: WaitingPods
  readonly #preparingPods = new PreparingPods()
  readonly #writer: StatusWriter
  readonly #recorders = new Map<string, SeriesRecorder>()
  readonly #decider: Decider
  readonly #pods: Lister<Pod>
  readonly #changes = new ChangeGate(() => this.#scheduleTurn())
  #isTurnScheduled = false
  #isRunning = false
  #bindings = 0

  /** Throws an ExplainedError for invalid profiles. */
  constructor(options: SchedulerOptions) {
    const {
      client,
      source,
      backOff,
      extenders = [],
      percentageOfNodesToScore = 0,
      clock = systemClock,
      random = Math.random,
      log,
    } = options
    this.#options = options
    this.#clock = clock
    this.#waitingPods = new WaitingPods(clock)
    this.cache = new SchedulerCache({ now: () => clock.now() })
    this.#writer = new StatusWriter(client, log)
    this.#pods = source.lister(pods)
    this.profiles = new Map(options.profiles.map((settings) => [settings.schedulerName, this.#profile(settings)]))
    const [sorter] = [...this.profiles.values()].flatMap(({ steps }) => steps.queueSort)
    this.queue = new SchedulingQueue({
      isBefore: (a, b) => sorter!.plugin.less!(a, b),
      profileOf: ({ pod }) => this.#profileOf(pod),
      backOff,
      onReady: () => this.#scheduleTurn(),
      onIncoming: (queue, event) => this.metrics.countIncoming(queue, event),
      clock,
      log,
    })
    this.metrics.watch(this.queue, this.cache, () => this.#bindings)
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
      apply: (change) => this.#changes.apply(change),
      notify: (event) => this.#notifyQueue(event),
      countEvent: (event) => this.metrics.observeEvent(event, this.#changes.changeBegan),
    })
  }

  /** Begins to schedule when the caches are synced. */
  async start(): Promise<void> {
    await this.#options.source.synced()
    this.#isRunning = true
    this.#scheduleTurn()
  }

  /** Stops scheduling. Resolves when bindings in progress have ended, or after two seconds. */
  async stop(): Promise<void> {
    this.#isRunning = false
    this.queue.stop()
    this.#waitingPods.stop()
    const deadline = performance.now() + stopTimeoutMs
    while (this.#bindings > 0 && performance.now() < deadline) await delay(10)
    for (const recorder of this.#recorders.values()) recorder.stop()
  }

  #profile(settings: ProfileSettings): Profile {
    const { client, source, plugins, extenders = [], log, random = Math.random } = this.#options
    const recorder = new SeriesRecorder(client, settings.schedulerName, log, this.#clock)
    this.#recorders.set(settings.schedulerName, recorder)
    const handle: Handle = {
      profile: settings.schedulerName,
      client,
      snapshot: this.cache,
      lister: (resource) => source.lister(resource),
      nominatedPods: (node) => this.nominated.podsOn(node),
      nominatedNode: (uid) => this.nominated.nodeOf(uid),
      clearNominations: (cleared) => {
        for (const { uid } of cleared) this.nominated.delete(uid)
      },
      waitingPods: this.#waitingPods,
      preparingPods: this.#preparingPods,
      extenders,
      activate: (keys) => this.queue.activate(keys),
      record: (event) => recorder.record(event),
      countPreemption: (victims) => this.metrics.observePreemption(victims),
      now: () => this.#clock.now(),
      after: (ms, ring) => this.#clock.after(ms, ring),
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

  #notifyQueue(event: ClusterEvent): void {
    this.queue.handleEvent(event, this.profiles.values())
    this.metrics.observeEvent(event, this.#changes.changeBegan)
  }

  /** Wakes pods that may have been rejected because this pod occupied the node or was nominated for it. */
  #wakeOthers({ pod }: PodInfo, nodeName: string): void {
    this.queue.handleEvent(placeFreed(pod, nodeName), this.profiles.values())
  }

  /** Schedules a turn of work on the queue. */
  #scheduleTurn(): void {
    if (this.#isTurnScheduled || !this.#isRunning) return
    this.#isTurnScheduled = true
    setImmediate(() => {
      this.#isTurnScheduled = false
      this.#runTurn()
    })
  }

  /** Schedules pods for some time, then yields to other work. */
  #runTurn(): void {
    const end = performance.now() + turnMs
    while (this.#isRunning && this.#changes.isOpen && this.#bindings < maxBindings) {
      const entry = this.queue.pop()
      if (!entry) return
      this.#scheduleOne(entry)
      if (performance.now() > end) {
        this.#scheduleTurn()
        return
      }
    }
  }

  /** One attempt to schedule a pod. It continues in the background if an extender has to be called. */
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
    this.#changes.afterAnswer(
      () => this.#decider.decide(cycle),
      (decision) => {
        this.metrics.observeDecision(performance.now() - began)
        cycle.countFilters()
        if ('node' in decision) this.#assumeAndBind(entry, { cycle, node: decision.node.name }, began)
        else this.#runPostFilter(entry, cycle, decision, began)
      },
      (error) => {
        this.#handleFailure(entry, cycle, began, failureOf(error, cycle))
      },
    )
  }

  /** No node fits: runs PostFilter, which may preempt. */
  #runPostFilter(
    entry: QueueEntry,
    cycle: PodCycle,
    { diagnosis, rejectedBy, pendingFor }: Unplaced,
    began: number,
  ): void {
    const conclude = (result: PostFilterResult): void => {
      const message = fitMessage({ ...diagnosis, postFilterMessage: result.status?.reasons.join(', ') })
      this.#handleFailure(entry, cycle, began, {
        reason: 'Unschedulable',
        message,
        rejectedBy,
        pendingFor,
        nominatedNode: result.nominatedNode,
      })
    }
    this.#changes.afterAnswer(
      () => postFilter(cycle, diagnosis.rejections),
      conclude,
      (error) => {
        this.#options.log(`preemption for pod ${cycle.pod.key} failed: ${reasonOf(error)}`)
        conclude({ status: failed(error) })
      },
    )
  }

  #assumeAndBind(entry: QueueEntry, placement: Placement, began: number): void {
    const { cycle, node } = placement
    this.cache.assume(cycle.pod, node)
    this.nominated.delete(cycle.pod.uid, node)
    const rejection = reserve(placement)
    const permission = rejection ? { rejection, timeouts: noTimeouts } : permit(placement)
    if (permission.rejection) {
      this.#undo(placement)
      this.#handleFailure(entry, cycle, began, failureOnNode(permission.rejection, node))
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
    const takesTime = permitted !== undefined || hasPreBindWork(placement)
    if (takesTime) await this.#nominate(pod, node)
    let rejection = permitted && (await permitted)
    if (!rejection) {
      // Failures from here on do not depend on the state of the cluster.
      this.queue.done(pod.uid)
      this.#bindings++
      try {
        rejection = await bind(placement, this.#options.extenders ?? [], this.#preparingPods)
      } finally {
        this.#bindings--
      }
      if (this.queue.hasReady) this.#scheduleTurn()
    }
    this.#changes.apply(() => {
      if (rejection) {
        this.#undo(placement)
        this.#wakeOthers(pod, node)
        this.#handleFailure(entry, cycle, began, failureOnNode(rejection, node), takesTime ? node : undefined)
        return
      }
      this.cache.finishBinding(pod)
      const note = `Successfully assigned ${pod.key} to ${node}`
      profile.handle.record({ regarding: pod.pod, type: 'Normal', reason: 'Scheduled', action: 'Binding', note })
      this.#countAttempt('scheduled', profile, began)
      this.metrics.observeScheduled(entry.attempts, performance.now() - (entry.firstTriedAt ?? began))
    })
  }

  async #permitted(
    { cycle: { pod }, node }: Placement,
    timeouts: ReadonlyMap<string, number>,
  ): Promise<Rejection | undefined> {
    const began = performance.now()
    const rejection = await this.#waitingPods.wait(pod, node, timeouts)
    this.metrics.observePermitWait(rejection ? 'Unschedulable' : 'Success', performance.now() - began)
    return rejection
  }

  /**
   * Sets `status.nominatedNodeName` to the chosen node, so that others (such as autoscalers) know it during PreBind
   * (KEP-5278).
   */
  async #nominate({ pod, namespace, name, key }: PodInfo, node: string): Promise<void> {
    if (pod.status?.nominatedNodeName === node) return
    const change = { metadata: { uid: pod.metadata.uid }, status: { nominatedNodeName: node } }
    try {
      await this.#options.client.patch(pods, namespace, name, change, 'strategic', 'status')
    } catch (error) {
      this.#options.log(`cannot write the status of pod ${key}: ${reasonOf(error)}`)
    }
  }

  #undo(placement: Placement): void {
    unreserve(placement)
    this.cache.forget(placement.cycle.pod)
  }

  #countAttempt(result: AttemptResult, { schedulerName }: Profile, began: number): void {
    this.metrics.observeAttempt(result, schedulerName, performance.now() - began)
  }

  /**
   * Puts the pod back into the queue, and reports the failure in an event and the status. `nodeInStatus`: the node
   * in its status, if the cache may not have it yet.
   */
  #handleFailure(
    entry: QueueEntry,
    { pod: tried, profile }: PodCycle,
    began: number,
    failure: Failure,
    nodeInStatus = '',
  ): void {
    const { reason, rejectedBy = noPlugins, pendingFor = noPlugins, nominatedNode } = failure
    this.#countAttempt(reason === 'Unschedulable' ? 'unschedulable' : 'error', profile, began)
    const current = this.#pods.get(tried.namespace, tried.name)
    if (!current || current.metadata.uid !== tried.pod.metadata.uid || current.spec?.nodeName) {
      this.queue.done(tried.uid)
      return
    }
    const pod = current === tried.pod ? tried : new PodInfo(current)
    entry.rejectedBy = rejectedBy
    entry.pendingFor = pendingFor
    const nominatedBefore = this.nominated.nodeOf(pod.uid) ?? nodeInStatus
    this.nominated.set(pod, nominatedNode ?? current.status?.nominatedNodeName ?? '')
    this.queue.putBack(entry, pod)
    profile.handle.record({
      regarding: current,
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note: noteOf(failure),
    })
    const change = statusChangeOf(current, failure, nominatedBefore, this.#clock.now())
    if (change) this.#writer.write(pod, change)
  }
}

const noTimeouts: ReadonlyMap<string, number> = new Map()
const noPlugins: ReadonlySet<string> = new Set()
