/**
 * Notices changes of containers and sandboxes in the runtime (upstream's PLEG): by its events, and by comparing lists,
 * often without events and seldom with them.
 */
import { identityOf, type PodIdentity } from '../cri/labels.ts'
import type { CriRuntime } from '../cri/runtime.ts'
import type { RuntimeLists } from '../metrics/list-metrics.ts'
import type { RuntimePod } from './runtime-pod.ts'

export interface RuntimeChangesOptions {
  readonly runtime: Pick<CriRuntime, 'containers' | 'sandboxes' | 'events'>
  readonly log: (line: string) => void
  /** Called with the pod of each event. */
  readonly changed: (pod: PodIdentity) => void
  /** Called with each pod that a comparison finds in another state than before; first with all pods. */
  readonly differs: (pod: PodIdentity) => void
  /** Called after each comparison with the runtime's lists. */
  readonly compared?: (lists: RuntimeLists) => void
  /** Called when the runtime sends events, and when it sends no more. */
  readonly connected?: () => void
  readonly disconnected?: () => void
  readonly now: () => number
  readonly schedule: (callback: () => void, ms: number) => () => void
}

/** Intervals of comparisons in ms: without events of the runtime, and with them. */
const pollMs = 1_000
const pollWithEventsMs = 300_000
/** Delays in ms before the runtime is asked for events again: they double with each failure. */
const firstRetryMs = 1_000
const maxRetryMs = 60_000
/** The runtime is unhealthy if no comparison has succeeded for this time, in ms. */
const unhealthyMs = 180_000

export class RuntimeChanges {
  readonly #options: RuntimeChangesOptions
  readonly #stopping = new AbortController()
  /** By pod UID: its identity, and its sandboxes and containers with their states. */
  #known = new Map<string, { readonly identity: PodIdentity; readonly text: string }>()
  #hasEvents = false
  #compared = 0
  #isComparing = false
  /** True while the runtime sends events, or is asked for them from time to time. */
  #isReading = false
  /** True since a comparison has failed: the runtime may come back as another version. */
  #hasFailed = false
  #retryMs = firstRetryMs
  #cancel: (() => void) | undefined
  #cancelRetry: (() => void) | undefined

  constructor(options: RuntimeChangesOptions) {
    this.#options = options
    this.#compared = options.now()
  }

  /** Resolves after the first comparison. Rejects if the runtime does not answer. */
  async start(): Promise<void> {
    await this.#compare()
    this.#schedule()
    void this.#readEvents()
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel?.()
    this.#cancelRetry?.()
  }

  /** The pods of which the runtime has something. */
  get pods(): PodIdentity[] {
    return [...this.#known.values()].map(({ identity }) => identity)
  }

  /** The time of the last comparison that has succeeded, in ms since 1970. */
  get lastCompared(): number {
    return this.#compared
  }

  /** The reason why the node is not ready, in upstream's words; undefined if the runtime answers. */
  get problem(): string | undefined {
    const quietMs = this.#options.now() - this.#compared
    if (quietMs < unhealthyMs || this.#hasEvents) return undefined
    const seconds = Math.floor(quietMs / 1000)
    const ago = `${Math.floor(seconds / 60)}m${seconds % 60}s`
    return `PLEG is not healthy: pleg was last seen active ${ago} ago; threshold is 3m0s`
  }

  /** Compares now, as after an action whose result is awaited. */
  async compare(): Promise<void> {
    if (!this.#isComparing) await this.#compare()
  }

  /** Takes the state of a pod that its worker has read: the same state in the next comparison is no change. */
  settle({ identity, sandboxes, containers }: RuntimePod): void {
    this.#known.set(identity.uid, { identity, text: textOf([...sandboxes, ...containers]) })
  }

  #schedule(ms = this.#hasEvents ? pollWithEventsMs : pollMs): void {
    if (this.#stopping.signal.aborted) return
    this.#cancel?.()
    this.#cancel = this.#options.schedule(() => void this.#poll(), ms)
  }

  async #poll(): Promise<void> {
    try {
      if (!this.#isComparing) await this.#compare()
      const isBack = this.#hasFailed
      this.#hasFailed = false
      if (isBack && !this.#isReading) void this.#readEvents()
    } catch (error) {
      this.#hasFailed = true
      this.#options.log(`cannot list the containers of the runtime: ${(error as Error).message}`)
    }
    this.#schedule()
  }

  async #compare(): Promise<void> {
    this.#isComparing = true
    try {
      const { runtime, differs, now, compared } = this.#options
      const began = now()
      const [sandboxes, containers] = await Promise.all([runtime.sandboxes(), runtime.containers()])
      const byPod = Map.groupBy([...sandboxes, ...containers], ({ labels }) => identityOf(labels)?.uid)
      byPod.delete(undefined)
      const current = new Map<string, { readonly identity: PodIdentity; readonly text: string }>()
      for (const [uid = '', parts] of byPod)
        current.set(uid, { identity: identityOf(parts[0]!.labels)!, text: textOf(parts) })
      const before = this.#known
      this.#known = current
      this.#compared = now()
      compared?.({ sandboxes, containers, began, ended: this.#compared })
      for (const [uid, { identity, text }] of current) if (before.get(uid)?.text !== text) differs(identity)
      for (const [uid, { identity }] of before) if (!current.has(uid)) differs(identity)
    } finally {
      this.#isComparing = false
    }
  }

  /**
   * Follows the runtime's events, and asks for them again when they end. A runtime that does not know events is asked
   * again after it was away.
   */
  async #readEvents(): Promise<void> {
    const { runtime, changed, connected, disconnected, schedule } = this.#options
    const { signal } = this.#stopping
    this.#isReading = true
    try {
      for await (const { podSandboxStatus } of runtime.events(signal)) {
        if (!this.#hasEvents) connected?.()
        this.#hasEvents = true
        this.#retryMs = firstRetryMs
        const identity = podSandboxStatus && identityOf(podSandboxStatus.labels)
        if (identity) changed(identity)
      }
    } catch (error) {
      if (signal.aborted) return
      disconnected?.()
      this.#isReading = (error as { readonly code?: unknown }).code !== 'Unimplemented'
    }
    if (signal.aborted) return
    // Changes since the last event are found now, not at the next of the rare comparisons.
    if (this.#hasEvents) this.#schedule(0)
    this.#hasEvents = false
    if (!this.#isReading) return
    this.#cancelRetry = schedule(() => void this.#readEvents(), this.#retryMs)
    this.#retryMs = Math.min(2 * this.#retryMs, maxRetryMs)
  }
}

/** Sandboxes and containers with their states, in any order. */
const textOf = (parts: readonly { readonly id: string; readonly state: number }[]): string =>
  parts
    .map(({ id, state }) => `${id} ${state}`)
    .sort()
    .join()
