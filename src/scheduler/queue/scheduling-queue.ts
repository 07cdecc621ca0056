/**
 * The pods that wait to be scheduled: active ones in order, those that pause after a failure, and those that no node
 * would have, which wait until something happens that may help them (KEP-4247).
 */
import type { Pod } from '../../client/kinds.ts'
import type { ClusterEvent } from '../framework/cluster-events.ts'
import type { QueuedPod } from '../framework/cycle.ts'
import { PodInfo } from '../framework/pods/pod-info.ts'
import type { Refusal } from '../framework/status.ts'
import { eventLabel } from './event-label.ts'
import { type Activation, EventLog } from './event-log.ts'
import { Heap } from './heap.ts'
import { podActions } from './object-changes.ts'
import { type BackOff, QueueEntry } from './queue-entry.ts'
import type { Registrations } from './registrations.ts'

/** What the queue asks of a pod's profile. */
export interface QueueProfile {
  readonly registrations: Registrations
  /** Who keeps the pod out of the active queue. */
  preEnqueue(pod: PodInfo): Refusal | undefined
}

export interface SchedulingQueueOptions {
  readonly isBefore: (a: QueuedPod, b: QueuedPod) => boolean
  readonly profileOf: (pod: PodInfo) => QueueProfile | undefined
  readonly backOff: BackOff
  /** Called when there is a pod to schedule. */
  readonly onReady: () => void
  /** Counts pods that come into a part of the queue, by what brought them there. */
  readonly onIncoming?: (queue: QueuePart, event: string) => void
  readonly now?: () => number
  readonly log: (line: string) => void
}

export type QueuePart = 'active' | 'backoff' | 'unschedulable' | 'gated'

/** Pods that nothing has helped are tried again after so long all the same. Milliseconds. */
const leftoverMs = 5 * 60_000
/** How often that is looked at. */
const flushMs = 30_000
/** Pods whose pauses end within the same so long are released by priority. */
const windowMs = 1000

const windowOf = (ms: number): number => Math.floor(ms / windowMs) * windowMs

export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions
  readonly #now: () => number
  readonly #active: Heap<QueueEntry>
  /** Pods that no node would have, pausing: they are taken early when nothing else is to be done (KEP-5142). */
  readonly #backingOff: Heap<QueueEntry>
  /** Pods that something went wrong with, pausing. */
  readonly #failed: Heap<QueueEntry>
  /** Those that wait for an event, gated ones among them. By key. */
  readonly #unschedulable = new Map<string, QueueEntry>()
  /** The same by the plug-ins that refused them. */
  readonly #refused = new Map<string, Set<QueueEntry>>()
  readonly #inFlight = new EventLog()
  #backOffTimer: NodeJS.Timeout | undefined
  #flushTimer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: SchedulingQueueOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    const end = (entry: QueueEntry): number => windowOf(entry.backOffEnd(options.backOff))
    const endsBefore = (a: QueueEntry, b: QueueEntry): boolean =>
      end(a) < end(b) || (end(a) === end(b) && options.isBefore(a, b))
    this.#active = new Heap<QueueEntry>(options.isBefore)
    this.#backingOff = new Heap(endsBefore)
    this.#failed = new Heap(endsBefore)
  }

  /** How many pods are where. */
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

  /** All pods that wait. */
  *all(): Iterable<QueueEntry> {
    yield* this.#active.all()
    yield* this.#backingOff.all()
    yield* this.#failed.all()
    yield* this.#unschedulable.values()
  }

  get(key: string): QueueEntry | undefined {
    return this.#active.get(key) ?? this.#backingOff.get(key) ?? this.#failed.get(key) ?? this.#unschedulable.get(key)
  }

  /** A new pod. */
  add(pod: Pod): void {
    this.delete(pod)
    this.#activate(new QueueEntry(new PodInfo(pod), this.#now()), 'UnschedulablePodAdd')
  }

  /** The pod has changed. */
  update(before: Pod, after: Pod): void {
    const pod = new PodInfo(after)
    const events = podActions(before, after).map((action): ClusterEvent => ({ resource: 'Pod', action, before, after }))
    if (this.#inFlight.has(pod.uid)) {
      for (const event of events) this.#inFlight.note(event)
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
    events.some((event) => this.#helps(entry, event))
  }

  delete({ metadata: { namespace, name } }: Pod): void {
    const key = `${namespace}/${name}`
    for (const part of [this.#active, this.#backingOff, this.#failed]) part.delete(key)
    const entry = this.#unschedulable.get(key)
    if (entry) this.#leaveUnschedulable(entry)
  }

  /** The next pod to schedule: events are noted for it until `done`, or until it is put back. */
  pop(): QueueEntry | undefined {
    let entry = this.#active.pop()
    if (!entry && (entry = this.#backingOff.pop())) this.#options.onIncoming?.('active', 'PopFromBackoffQ')
    if (!entry) return undefined
    entry.attempts++
    entry.firstTriedAt ??= this.#now()
    entry.refusedBy = none
    entry.pendingFor = none
    this.#inFlight.begin(entry.pod.uid)
    return entry
  }

  /** The pod was bound, or is nobody's any more. */
  done(uid: string): void {
    this.#inFlight.drop(uid)
  }

  /** No node would have the pod, or something went wrong (nobody refused it). `pod` is what is known of it now. */
  putBack(entry: QueueEntry, pod: PodInfo): void {
    if (this.get(pod.key)) {
      this.done(entry.pod.uid)
      return
    }
    const missed = this.#inFlight.end(entry.pod.uid)
    entry.pod = pod
    entry.queuedAt = this.#now()
    if (entry.refusedBy.size + entry.pendingFor.size === 0) {
      entry.errors++
      this.#requeue(entry, 'after back-off', 'ScheduleAttemptFailure')
      return
    }
    entry.errors = 0
    entry.refusals++
    const worth = missed.map((event) => this.#worth(entry, event))
    if (worth.includes('at once')) this.#requeue(entry, 'at once', 'ScheduleAttemptFailure')
    else if (worth.includes('after back-off')) this.#requeue(entry, 'after back-off', 'ScheduleAttemptFailure')
    else this.#setAside(entry, 'ScheduleAttemptFailure')
  }

  /** Something happened in the cluster: pods that it may help leave their waiting room. */
  tell(event: ClusterEvent, profiles: Iterable<QueueProfile>): void {
    this.#inFlight.note(event)
    if (this.#unschedulable.size === 0) return
    const candidates = new Set<QueueEntry>()
    for (const { registrations } of profiles)
      for (const { plugin } of registrations.of(event))
        for (const entry of this.#refused.get(plugin) ?? []) candidates.add(entry)
    for (const entry of candidates) this.#helps(entry, event)
  }

  /**
   * Brings these pods into the active queue, wherever they are. One that is being tried is tried again, should it fail.
   */
  activate(keys: Iterable<string>): void {
    for (const key of keys) {
      const entry = this.#unschedulable.get(key)
      if (entry) this.#leaveUnschedulable(entry)
      const waiting = entry ?? this.#backingOff.delete(key) ?? this.#failed.delete(key)
      if (waiting) this.#activate(waiting, 'ForceActivate')
      else this.#inFlight.note({ activated: key })
    }
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#backOffTimer)
    clearTimeout(this.#flushTimer)
  }

  /** Whether the event may help the pod, and if it should be tried at once. */
  #worth(entry: QueueEntry, event: ClusterEvent | Activation): Worth | undefined {
    if ('activated' in event) return event.activated === entry.key ? 'after back-off' : undefined
    // What a pod itself gives up is for others.
    if (event.action === 'Delete' && event.before?.metadata.uid === entry.pod.uid) return undefined
    let worth: Worth | undefined
    for (const { plugin, registration } of this.#options.profileOf(entry.pod)?.registrations.of(event) ?? []) {
      const isPending = entry.pendingFor.has(plugin)
      if ((!isPending && !entry.refusedBy.has(plugin)) || !this.#mayHelp(entry, event, plugin, registration)) continue
      if (isPending) return 'at once'
      worth = 'after back-off'
    }
    return worth
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
        `${plugin} could not say whether an event helps ${pod.key}: ` +
          `${error instanceof Error ? error.message : String(error)}`,
      )
      return true
    }
  }

  /** Gives the pod another try, if the event may help it. */
  #helps(entry: QueueEntry, event: ClusterEvent): boolean {
    const worth = this.#worth(entry, event)
    if (!worth) return false
    this.#leaveUnschedulable(entry)
    this.#requeue(entry, worth, eventLabel(event))
    return true
  }

  #requeue(entry: QueueEntry, worth: Worth, label: string): void {
    if (worth === 'at once' || windowOf(entry.backOffEnd(this.#options.backOff)) <= windowOf(this.#now())) {
      this.#activate(entry, label)
      return
    }
    if (this.#isGated(entry, label)) return
    const part = entry.errors > 0 ? this.#failed : this.#backingOff
    part.set(entry)
    this.#options.onIncoming?.('backoff', label)
    if (part === this.#backingOff) this.#options.onReady()
    this.#setBackOffTimer()
  }

  #activate(entry: QueueEntry, label: string): void {
    if (this.#isGated(entry, label)) return
    this.#active.set(entry)
    this.#options.onIncoming?.('active', label)
    this.#options.onReady()
  }

  /** Asks the plug-ins whether the pod may be tried; puts it aside if not. */
  #isGated(entry: QueueEntry, label: string): boolean {
    const refusal = this.#options.profileOf(entry.pod)?.preEnqueue(entry.pod)
    entry.gatedBy = refusal?.plugin
    if (!refusal) return false
    // Who refused it before may be the one who wakes it.
    entry.refusedBy = new Set([...entry.refusedBy, refusal.plugin])
    this.#setAside(entry, label)
    return true
  }

  #setAside(entry: QueueEntry, label: string): void {
    this.#unschedulable.set(entry.key, entry)
    for (const plugin of [...entry.refusedBy, ...entry.pendingFor]) {
      const refused = this.#refused.get(plugin)
      if (refused) refused.add(entry)
      else this.#refused.set(plugin, new Set([entry]))
    }
    this.#options.onIncoming?.(entry.gatedBy ? 'gated' : 'unschedulable', label)
    this.#setFlushTimer()
  }

  #leaveUnschedulable(entry: QueueEntry): void {
    this.#unschedulable.delete(entry.key)
    for (const plugin of [...entry.refusedBy, ...entry.pendingFor]) {
      const refused = this.#refused.get(plugin)
      refused?.delete(entry)
      if (refused?.size === 0) this.#refused.delete(plugin)
    }
  }

  /** Those whose pause is over become active. */
  #endBackOffs(): void {
    const now = windowOf(this.#now())
    for (const part of [this.#backingOff, this.#failed])
      for (let { first } = part; first && windowOf(first.backOffEnd(this.#options.backOff)) <= now; { first } = part) {
        part.pop()
        this.#activate(first, 'BackoffComplete')
      }
    this.#setBackOffTimer()
  }

  #setBackOffTimer(): void {
    clearTimeout(this.#backOffTimer)
    const ends = [this.#backingOff.first, this.#failed.first].flatMap((entry) =>
      entry ? [windowOf(entry.backOffEnd(this.#options.backOff))] : [],
    )
    if (ends.length === 0 || this.#isStopped) return
    this.#backOffTimer = setTimeout(() => this.#endBackOffs(), Math.max(1, Math.min(...ends) - this.#now()))
  }

  /** Pods that were left behind are tried again. */
  #flush(): void {
    const now = this.#now()
    const left = [...this.#unschedulable.values()].filter(({ queuedAt }) => now - queuedAt >= leftoverMs)
    for (const entry of left) {
      this.#leaveUnschedulable(entry)
      if (entry.gatedBy) entry.queuedAt = now
      this.#requeue(entry, 'after back-off', 'UnschedulableTimeout')
    }
    this.#flushTimer = undefined
    this.#setFlushTimer()
  }

  /** Nothing is looked at while nobody waits. */
  #setFlushTimer(): void {
    if (this.#unschedulable.size === 0 || this.#flushTimer || this.#isStopped) return
    const [oldest] = this.#unschedulable.values()
    const dueMs = (oldest?.queuedAt ?? 0) + leftoverMs - this.#now()
    this.#flushTimer = setTimeout(() => this.#flush(), Math.max(flushMs, dueMs))
    this.#flushTimer.unref()
  }
}

type Worth = 'at once' | 'after back-off'

const none: ReadonlySet<string> = new Set()
