/**
 * The numbers of stored objects by resource, for metrics (`--etcd-count-metric-poll-period`). Resources in memory are
 * counted there at each scrape, all others in the store, periodically.
 */
import type { Registry } from './registry.ts'
import type { ServedResource } from './served-resource.ts'

export interface ObjectCountsOptions {
  readonly registry: Pick<Registry, 'cachers' | 'storeOf'>
  /** Returns all resources that are served now, in all versions. */
  readonly served: () => Iterable<ServedResource>
  /** Interval in ms; 0 for no counts. */
  readonly periodMs: number
  /** Returns numbers from 0 to 1. */
  readonly random: () => number
  /** Resolves after a time in ms, or rejects when `signal` is aborted. */
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface ObjectCount {
  readonly group: string
  readonly resource: string
  /** -1 if the store could not count. */
  readonly objects: number
  /** The sum of the sizes of the objects; -1 if it is unknown, since they are not in memory. */
  readonly bytes: number
}

/** The first counts wait for the start of the server, in ms. */
const firstMs = 1_000
/** Upstream's jitter factor, so that servers do not count at the same time. */
const jitter = 1.2
const unknown = -1

export class ObjectCounts {
  readonly #options: ObjectCountsOptions
  readonly #stopping = new AbortController()
  /** As the store counted them last. */
  #counted: ReadonlyMap<ServedResource, number> = new Map()

  constructor(options: ObjectCountsOptions) {
    this.#options = options
    if (options.periodMs > 0) void this.#countPeriodically(options.periodMs)
  }

  /** The last counts, of resources that are served now. */
  read(): readonly ObjectCount[] {
    const { registry, periodMs } = this.#options
    if (periodMs <= 0) return []
    const inMemory = new Map(Array.from(registry.cachers(), ({ resource, live }) => [resource, live?.objects] as const))
    return [...this.#stored()].flatMap((storage) => {
      const { group, plural: resource } = storage.definition
      const live = inMemory.get(storage)
      if (live) return [{ group, resource, objects: live.size, bytes: live.bytes }]
      const objects = this.#counted.get(storage)
      return objects === undefined ? [] : [{ group, resource, objects, bytes: objects === 0 ? 0 : unknown }]
    })
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #countPeriodically(periodMs: number): Promise<void> {
    const { signal } = this.#stopping
    for (let waitMs = Math.min(firstMs, periodMs); !signal.aborted; ) {
      await this.#options.delay(waitMs, signal).catch(() => {})
      if (signal.aborted) return
      await this.#count()
      waitMs = periodMs * (1 + this.#options.random() * jitter)
    }
  }

  /** Counts one resource after the other, so that requests need not wait. */
  async #count(): Promise<void> {
    const { registry } = this.#options
    const counted = new Map<ServedResource, number>()
    const inMemory = new Set(Array.from(registry.cachers(), ({ resource, live }) => live && resource))
    for (const storage of this.#stored()) {
      if (this.#stopping.signal.aborted) return
      if (inMemory.has(storage)) continue
      const objects = await registry
        .storeOf(storage)
        .count(storage.range(''))
        .catch(() => unknown)
      counted.set(storage, objects)
    }
    this.#counted = counted
  }

  /** The resources that have objects in the store, each once. */
  #stored(): ReadonlySet<ServedResource> {
    const all = Array.from(this.#options.served(), ({ storage }) => storage)
    return new Set(all.filter(({ definition }) => !definition.virtual))
  }
}
