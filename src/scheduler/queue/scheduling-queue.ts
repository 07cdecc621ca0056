/**
 * The pods to schedule: active ones in order, those in back-off after a failure, and unschedulable ones, which wait for
 * an event that may help them (KEP-4247).
 */
import type { Pod } from '../../client/kinds.ts'
import { type Alarm, type Clock, systemClock } from '../../lib/clock/clock.ts'
import type { ClusterEvent } from '../framework/cluster-events.ts'
import type { QueuedPod } from '../framework/cycle.ts'
import { PodInfo } from '../framework/pods/pod-info.ts'
import type { Rejection } from '../framework/status.ts'
import { eventLabel } from './event-label.ts'
import { type Activation, EventLog } from './event-log.ts'
import { Heap } from './heap.ts'
import { podActions } from './object-changes.ts'
import { type BackOff, QueueEntry } from './queue-entry.ts'
import type { Registrations } from './registrations.ts'

/** The parts of a profile that the queue uses. */
export interface QueueProfile {
  readonly registrations: Registrations
  /** The rejection that keeps the pod out of the active queue. */
  preEnqueue(pod: PodInfo): Rejection | undefined
}

export interface SchedulingQueueOptions {
  readonly isBefore: (a: QueuedPod, b: QueuedPod) => boolean
  readonly profileOf: (pod: PodInfo) => QueueProfile | undefined
  readonly backOff: BackOff
  /** Called when there is a pod to schedule. */
  readonly onReady: () => void
  /** Called when a pod enters a part of the queue, with the event that moved it. */
  readonly onIncoming?: (queue: QueuePart, event: string) => void
  /** Default: the machine's. */
  readonly clock?: Clock
  readonly log: (line: string) => void
}

export type QueuePart = 'active' | 'backoff' | 'unschedulable' | 'gated'

/** Unschedulable pods are retried after so long without an event. In ms. */
const maxUnschedulableMs = 5 * 60_000
/** The interval of that check, in ms. */
const flushIntervalMs = 30_000
/** Pods whose back-offs end in the same window are released by priority. In ms. */
const windowMs = 1000

const windowOf = (ms: number): number => Math.floor(ms / windowMs) * windowMs

export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions
  readonly #clock: Clock
  readonly #active: Heap<QueueEntry>
  /** Unschedulable pods in back-off: they are popped early if no pod is active (KEP-5142). */
  readonly #backingOff: Heap<QueueEntry>
  /** Pods in back-off after an error: by the machine's clock, so that a paused clock does not delay the retry. */
  readonly #failed: Heap<QueueEntry>
  /** Pods that wait for an event, gated ones included. By key. */
  readonly #unschedulable = new Map<string, QueueEntry>()
  /** The same pods by the plug-ins that rejected them. */
  readonly #rejectedByPlugin = new Map<string, Set<QueueEntry>>()
  readonly #inFlight = new EventLog()
  #backOffAlarm: Alarm | undefined
  #retryAlarm: Alarm | undefined
  #flushAlarm: Alarm | undefined
  #isStopped = false

  constructor(options: SchedulingQueueOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    const end = (entry: QueueEntry): number => windowOf(entry.backOffEnd(options.backOff))
    const endsBefore = (a: QueueEntry, b: QueueEntry): boolean =>
      end(a) < end(b) || (end(a) === end(b) && options.isBefore(a, b))
    this.#active = new Heap<QueueEntry>(options.isBefore)
    this.#backingOff = new Heap(endsBefore)
    this.#failed = new Heap(endsBefore)
  }

  /** The number of pods in each part. */
  sizes(): Readonly<Record<QueuePart, number>> {
    let gated = 0
    for (const { gatedBy } of this.#unschedulable.values()) if (gatedBy) gated++
    return {
      active: this.#active.size,
      backoff: this.#backingOff.size + this.#failed.size,
      unschedulable: this.#unschedulable.size - gated,
      gated,
    }
  }

  get hasReady(): boolean {
    return this.#active.size + this.#backingOff.size > 0
  }

  /** All pods in the queue. */
  *all(): Iterable<QueueEntry> {
    yield* this.#active.all()
    yield* this.#backingOff.all()
    yield* this.#failed.all()
    yield* this.#unschedulable.values()
  }

  get(key: string): QueueEntry | undefined {
    return this.#active.get(key) ?? this.#backingOff.get(key) ?? this.#failed.get(key) ?? this.#unschedulable.get(key)
  }

  /** Adds a new pod. */
  add(pod: Pod): void {
    this.delete(pod)
    this.#activate(new QueueEntry(new PodInfo(pod), this.#clock.now()), 'UnschedulablePodAdd')
  }

  /** Updates a changed pod. */
  update(before: Pod, after: Pod): void {
    const pod = new PodInfo(after)
    const events = podActions(before, after).map((action): ClusterEvent => ({ resource: 'Pod', action, before, after }))
    if (this.#inFlight.has(pod.uid)) {
      for (const event of events) this.#inFlight.append(event)
      return
    }
    const entry = this.get(pod.key)
    if (!entry || entry.pod.uid !== pod.uid) {
      this.add(after)
      return
    }
    entry.pod = pod
    for (const part of [this.#active, this.#backingOff, this.#failed]) if (part.get(pod.key)) part.set(entry)
    if (!this.#unschedulable.has(pod.key)) return
    events.some((event) => this.#wakeIfHelpful(entry, event))
  }

  delete({ metadata: { namespace, name } }: Pod): void {
    const key = `${namespace}/${name}`
    for (const part of [this.#active, this.#backingOff, this.#failed]) part.delete(key)
    const entry = this.#unschedulable.get(key)
    if (entry) this.#leaveUnschedulable(entry)
  }

  /** The next pod to schedule. Events are logged for it until `done` or `putBack`. */
  pop(): QueueEntry | undefined {
    let entry = this.#active.pop()
    if (!entry && (entry = this.#backingOff.pop())) this.#options.onIncoming?.('active', 'PopFromBackoffQ')
    if (!entry) return undefined
    entry.attempts++
    entry.firstTriedAt ??= performance.now()
    entry.rejectedBy = none
    entry.pendingFor = none
    this.#inFlight.begin(entry.pod.uid)
    return entry
  }

  /** Ends the attempt of a pod that was bound or is no longer ours. */
  done(uid: string): void {
    this.#inFlight.drop(uid)
  }

  /**
   * Puts back a pod that fits no node, or whose attempt failed with an error (no rejections). `pod` is its current
   * state.
   */
  putBack(entry: QueueEntry, pod: PodInfo): void {
    if (this.get(pod.key)) {
      this.done(entry.pod.uid)
      return
    }
    const missed = this.#inFlight.end(entry.pod.uid)
    entry.pod = pod
    entry.queuedAt = this.#clock.now()
    if (entry.rejectedBy.size + entry.pendingFor.size === 0) {
      entry.errors++
      entry.failedAt = systemClock.now()
      this.#requeue(entry, 'after back-off', 'ScheduleAttemptFailure')
      return
    }
    entry.errors = 0
    entry.rejections++
    const urgency = missed.map((event) => this.#urgencyFor(entry, event))
    if (urgency.includes('immediately')) this.#requeue(entry, 'immediately', 'ScheduleAttemptFailure')
    else if (urgency.includes('after back-off')) this.#requeue(entry, 'after back-off', 'ScheduleAttemptFailure')
    else this.#setAside(entry, 'ScheduleAttemptFailure')
  }

  /** Moves the pods that the event may help to the active queue or to back-off. */
  handleEvent(event: ClusterEvent, profiles: Iterable<QueueProfile>): void {
    this.#inFlight.append(event)
    if (this.#unschedulable.size === 0) return
    const candidates = new Set<QueueEntry>()
    for (const { registrations } of profiles)
      for (const { plugin } of registrations.of(event))
        for (const entry of this.#rejectedByPlugin.get(plugin) ?? []) candidates.add(entry)
    for (const entry of candidates) this.#wakeIfHelpful(entry, event)
  }

  /** Moves these pods to the active queue from any part. A pod in an attempt is retried if that fails. */
  activate(keys: Iterable<string>): void {
    for (const key of keys) {
      const entry = this.#unschedulable.get(key)
      if (entry) this.#leaveUnschedulable(entry)
      const waiting = entry ?? this.#backingOff.delete(key) ?? this.#failed.delete(key)
      if (waiting) this.#activate(waiting, 'ForceActivate')
      else this.#inFlight.append({ activated: key })
    }
  }

  stop(): void {
    this.#isStopped = true
    for (const alarm of [this.#backOffAlarm, this.#retryAlarm, this.#flushAlarm]) alarm?.cancel()
  }

  /** Returns when to retry the pod after the event; undefined if the event does not help it. */
  #urgencyFor(entry: QueueEntry, event: ClusterEvent | Activation): Urgency | undefined {
    if ('activated' in event) return event.activated === entry.key ? 'after back-off' : undefined
    // A node that the pod itself gives up only helps others.
    if (event.action === 'Delete' && event.before?.metadata.uid === entry.pod.uid) return undefined
    let urgency: Urgency | undefined
    for (const { plugin, registration } of this.#options.profileOf(entry.pod)?.registrations.of(event) ?? []) {
      const isPending = entry.pendingFor.has(plugin)
      if ((!isPending && !entry.rejectedBy.has(plugin)) || !this.#mayHelp(entry, event, plugin, registration)) continue
      if (isPending) return 'immediately'
      urgency = 'after back-off'
    }
    return urgency
  }

  #mayHelp(
    { pod }: QueueEntry,
    { before, after }: ClusterEvent,
    plugin: string,
    registration: ReturnType<Registrations['of']>[number]['registration'],
  ): boolean {
    try {
      return registration.mayHelp?.(pod, before, after) ?? true
    } catch (error) {
      this.#options.log(
        `${plugin} failed to check whether an event helps ${pod.key}: ` +
          `${error instanceof Error ? error.message : String(error)}`,
      )
      return true
    }
  }

  /** Requeues the pod if the event may help it. */
  #wakeIfHelpful(entry: QueueEntry, event: ClusterEvent): boolean {
    const urgency = this.#urgencyFor(entry, event)
    if (!urgency) return false
    this.#leaveUnschedulable(entry)
    this.#requeue(entry, urgency, eventLabel(event))
    return true
  }

  #requeue(entry: QueueEntry, urgency: Urgency, label: string): void {
    const clock = entry.errors > 0 ? systemClock : this.#clock
    if (urgency === 'immediately' || windowOf(entry.backOffEnd(this.#options.backOff)) <= windowOf(clock.now())) {
      this.#activate(entry, label)
      return
    }
    if (this.#isGated(entry, label)) return
    const part = entry.errors > 0 ? this.#failed : this.#backingOff
    part.set(entry)
    this.#options.onIncoming?.('backoff', label)
    if (part === this.#backingOff) {
      this.#options.onReady()
      this.#setBackOffAlarm()
    } else this.#setRetryAlarm()
  }

  #activate(entry: QueueEntry, label: string): void {
    if (this.#isGated(entry, label)) return
    this.#active.set(entry)
    this.#options.onIncoming?.('active', label)
    this.#options.onReady()
  }

  /** Runs PreEnqueue; sets the pod aside if a plug-in rejects it. */
  #isGated(entry: QueueEntry, label: string): boolean {
    const rejection = this.#options.profileOf(entry.pod)?.preEnqueue(entry.pod)
    entry.gatedBy = rejection?.plugin
    if (!rejection) return false
    // The plug-in that rejected it before may be the one whose event wakes it.
    entry.rejectedBy = new Set([...entry.rejectedBy, rejection.plugin])
    this.#setAside(entry, label)
    return true
  }

  #setAside(entry: QueueEntry, label: string): void {
    this.#unschedulable.set(entry.key, entry)
    for (const plugin of [...entry.rejectedBy, ...entry.pendingFor]) {
      const rejected = this.#rejectedByPlugin.get(plugin)
      if (rejected) rejected.add(entry)
      else this.#rejectedByPlugin.set(plugin, new Set([entry]))
    }
    this.#options.onIncoming?.(entry.gatedBy ? 'gated' : 'unschedulable', label)
    this.#setFlushAlarm()
  }

  #leaveUnschedulable(entry: QueueEntry): void {
    this.#unschedulable.delete(entry.key)
    for (const plugin of [...entry.rejectedBy, ...entry.pendingFor]) {
      const rejected = this.#rejectedByPlugin.get(plugin)
      rejected?.delete(entry)
      if (rejected?.size === 0) this.#rejectedByPlugin.delete(plugin)
    }
  }

  /** Activates the pods of a part whose back-off has ended by its clock. */
  #endBackOffs(part: Heap<QueueEntry>, clock: Clock): void {
    const now = windowOf(clock.now())
    for (let { first } = part; first && windowOf(first.backOffEnd(this.#options.backOff)) <= now; { first } = part) {
      part.pop()
      this.#activate(first, 'BackoffComplete')
    }
  }

  #setBackOffAlarm(): void {
    this.#backOffAlarm?.cancel()
    this.#backOffAlarm = this.#afterBackOff(this.#backingOff, this.#clock, () => this.#setBackOffAlarm())
  }

  #setRetryAlarm(): void {
    this.#retryAlarm?.cancel()
    this.#retryAlarm = this.#afterBackOff(this.#failed, systemClock, () => this.#setRetryAlarm())
  }

  /** Ends the back-off of the first pods of a part when it is due, and calls `next` for the others. */
  #afterBackOff(part: Heap<QueueEntry>, clock: Clock, next: () => void): Alarm | undefined {
    const { first } = part
    if (!first || this.#isStopped) return undefined
    const dueMs = windowOf(first.backOffEnd(this.#options.backOff)) - clock.now()
    return clock.after(Math.max(1, dueMs), () => {
      this.#endBackOffs(part, clock)
      next()
    })
  }

  /** Retries pods that have been unschedulable for long. */
  #flush(): void {
    const now = this.#clock.now()
    const left = [...this.#unschedulable.values()].filter(({ queuedAt }) => now - queuedAt >= maxUnschedulableMs)
    for (const entry of left) {
      this.#leaveUnschedulable(entry)
      if (entry.gatedBy) entry.queuedAt = now
      this.#requeue(entry, 'after back-off', 'UnschedulableTimeout')
    }
    this.#flushAlarm = undefined
    this.#setFlushAlarm()
  }

  /** No alarm is set while no pod is unschedulable. */
  #setFlushAlarm(): void {
    if (this.#unschedulable.size === 0 || this.#flushAlarm || this.#isStopped) return
    const [oldest] = this.#unschedulable.values()
    const dueMs = (oldest?.queuedAt ?? 0) + maxUnschedulableMs - this.#clock.now()
    this.#flushAlarm = this.#clock.after(Math.max(flushIntervalMs, dueMs), () => this.#flush())
  }
}

type Urgency = 'immediately' | 'after back-off'

const none: ReadonlySet<string> = new Set()
