/**
 * Evicts pods when the node runs short of memory, disk or processes, and pods that exceed limits of local storage: one
 * pod at a time, after images and dead containers were removed.
 */
import { messageOf } from '../../lib/message-of.ts'
import { isCritical } from '../admission/critical-pods.ts'
import { type Pod, podName, specOf } from '../pod-types.ts'
import type { UsageSnapshot } from '../stats/usage/usage-snapshot.ts'
import type { TerminationStatus } from '../workers/pod-worker.ts'
import { evictionAnnotations, evictionMessage } from './messages.ts'
import { observationsOf } from './observations.ts'
import { crossedThresholds, PressureTracker } from './pressure-tracker.ts'
import { rankPods, type UsageOf } from './ranking.ts'
import { type PressureCondition, type Signal, signals } from './signals.ts'
import { exceededLimit } from './storage-limits.ts'
import { type Threshold, withDerivedThresholds } from './thresholds.ts'

type Annotations = Readonly<Record<string, string>>

export interface EvictionOptions {
  readonly thresholds: readonly Threshold[]
  /** `evictionPressureTransitionPeriod`, in ms. */
  readonly transitionMs: number
  /** `evictionMaxPodGracePeriod`, in seconds. */
  readonly maxGraceSeconds: number
  /** True to evict pods that exceed their limits of local storage (`localStorageCapacityIsolation`). */
  readonly limitsStorage: boolean
  readonly now: () => number
  readonly log: (line: string) => void
  readonly schedule: (callback: () => void, ms: number) => () => void
  collectUsage(): Promise<UsageSnapshot>
  /** The pods that run, start or end. */
  activePods(): readonly Pod[]
  setConditions(conditions: readonly PressureCondition[]): void
  /** Ends a pod; resolves when it has ended. */
  terminate(pod: Pod, graceSeconds: number, status: TerminationStatus): Promise<void>
  removeUnusedContainers(): Promise<void>
  removeUnusedImages(): Promise<void>
  /** Counts a pod that is evicted for a signal, or for a limit of local storage. */
  countEviction(signal: string): void
  /** Observes the age of the usage, in ms, by which a pod is evicted. */
  observeAge(signal: Signal, ms: number): void
  /** Records a warning of the node, or of a pod. */
  record(subject: Pod | 'node', reason: string, message: string, annotations?: Annotations): void
}

interface Eviction {
  /** Its name in metrics. */
  readonly signal: string
  readonly graceSeconds: number
  readonly status: TerminationStatus
  /** Of the event. */
  readonly annotations?: Annotations
}

/** `evictionMonitoringPeriod`, in ms. */
const periodMs = 10_000
/** The maximum time in ms that the next eviction waits for the end of a pod. */
const endMs = 30_000
/** The grace period of pods that must end soon, in seconds. */
const immediateSeconds = 1
const reason = 'Evicted'

export class EvictionManager {
  readonly #options: EvictionOptions
  readonly #tracker: PressureTracker
  #cancel: (() => void) | undefined
  #isStopped = false

  constructor(options: EvictionOptions) {
    this.#options = options
    this.#tracker = new PressureTracker(options.transitionMs)
  }

  start(): void {
    void this.#run()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  /** Checks the node and its pods once. Resolves with the pods that are evicted. Rejects if usage cannot be read. */
  async check(): Promise<readonly Pod[]> {
    const { now, setConditions, activePods } = this.#options
    const snapshot = await this.#options.collectUsage()
    const pods = activePods()
    const usageOf = usagesOf(snapshot)
    const thresholds = withDerivedThresholds(this.#options.thresholds, snapshot.hasImageFileSystem)
    const observations = observationsOf(snapshot)
    const pressure = this.#tracker.update(thresholds, observations, now())
    setConditions(pressure.conditions)
    const exceeding = this.#evictExceeding(pods, usageOf, snapshot.hasImageFileSystem)
    if (exceeding.length > 0) return exceeding
    const [threshold] = pressure.thresholds
    if (!threshold) return []
    const { resource } = signals[threshold.signal]
    this.#options.record('node', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`)
    if (await this.#reclaim(threshold.signal, thresholds, snapshot.hasImageFileSystem)) return []
    const shortage = { resource, thresholds: pressure.thresholds, observations }
    for (const { signal } of pressure.thresholds) this.#options.observeAge(signal, now() - snapshot.time)
    for (const pod of rankPods(pods, threshold.signal, usageOf, snapshot.hasImageFileSystem)) {
      const usage = usageOf(pod)
      const eviction = {
        signal: threshold.signal,
        graceSeconds: this.#graceOf(pod, threshold),
        status: { reason, message: evictionMessage(pod, usage, shortage), isDisruption: true },
        annotations: evictionAnnotations(pod, usage, resource),
      }
      if (this.#evict(pod, eviction)) return [pod]
    }
    return []
  }

  async #run(): Promise<void> {
    const { log, schedule, activePods } = this.#options
    const evicted = await this.check().catch((error) => {
      if (!this.#isStopped) log(`cannot check the node for evictions: ${messageOf(error)}`)
      return []
    })
    if (this.#isStopped) return
    const end = this.#options.now() + endMs
    const next = (): void => {
      const isEnding = activePods().some(({ metadata }) => evicted.some((pod) => pod.metadata.uid === metadata.uid))
      if (evicted.length > 0 && isEnding && this.#options.now() < end) this.#cancel = schedule(next, 1_000)
      else void this.#run()
    }
    this.#cancel = schedule(next, evicted.length > 0 ? 1_000 : periodMs)
  }

  #evictExceeding(pods: readonly Pod[], usageOf: UsageOf, hasImageFileSystem: boolean): Pod[] {
    if (!this.#options.limitsStorage) return []
    return pods.filter((pod) => {
      const usage = usageOf(pod)
      const limit = usage && exceededLimit(pod, usage, hasImageFileSystem)
      if (!limit) return false
      const { signal, message } = limit
      return this.#evict(pod, { signal, graceSeconds: immediateSeconds, status: { reason, message } })
    })
  }

  /** Soft thresholds give a pod time, up to a maximum. */
  #graceOf(pod: Pod, { graceMs }: Threshold): number {
    if (graceMs === 0) return immediateSeconds
    const own = specOf(pod).terminationGracePeriodSeconds ?? this.#options.maxGraceSeconds
    return Math.max(immediateSeconds, Math.min(this.#options.maxGraceSeconds, own))
  }

  /** Returns false for a pod that must not be evicted. */
  #evict(pod: Pod, { signal, graceSeconds, status, annotations }: Eviction): boolean {
    const { log, record, terminate, countEviction } = this.#options
    if (isCritical(pod)) {
      log(`the pod ${podName(pod)} is critical and cannot be evicted`)
      return false
    }
    record(pod, reason, status.message, annotations)
    countEviction(signal)
    terminate(pod, graceSeconds, status).catch((error) => log(`cannot evict ${podName(pod)}: ${messageOf(error)}`))
    return true
  }

  /** Removes dead containers and images that are not used. Returns true if no threshold is crossed after that. */
  async #reclaim(signal: Signal, thresholds: readonly Threshold[], hasImageFileSystem: boolean): Promise<boolean> {
    // With a file system of their own, images and containers do not use that of the kubelet.
    const helps = signals[signal].condition === 'DiskPressure' && !(hasImageFileSystem && signal.startsWith('nodefs.'))
    if (!helps) return false
    const { removeUnusedContainers, removeUnusedImages, collectUsage, log } = this.#options
    for (const remove of [removeUnusedContainers, removeUnusedImages])
      await remove().catch((error) => log(`cannot reclaim ${signals[signal].resource}: ${messageOf(error)}`))
    return crossedThresholds(thresholds, observationsOf(await collectUsage()), true).length === 0
  }
}

function usagesOf({ pods }: UsageSnapshot): UsageOf {
  const byUid = new Map(pods.map((usage) => [usage.identity.uid, usage]))
  return ({ metadata }) => byUid.get(metadata.uid ?? '')
}
