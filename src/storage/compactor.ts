/** Compacts a store periodically, so that history does not grow without limit. kube-apiserver does the same to etcd. */
import { type Store, StoreClosedError } from './store.ts'

export interface CompactorOptions {
  /** Time between two compactions, in ms. Default: 300,000 (5 minutes). */
  readonly intervalMs?: number
  /** Minimum time that history is retained, in ms. Default: 300,000 (5 minutes). */
  readonly retainMs?: number
  /** History larger than this is compacted to half of it, whatever its age. In bytes. Default: 256 MiB. */
  readonly maxHistoryBytes?: number
  readonly clock?: CompactorClock
}

export interface CompactorClock {
  /** The current time in ms. Monotonic. */
  now(): number
  /** Calls `run` every `ms` until the returned function is called. */
  every(ms: number, run: () => void): () => void
}

const fiveMinutesMs = 300_000
/**
 * Half a minute of history at a thousand pod writes a second: enough for an interrupted watch to resume without a new
 * list of a large cluster.
 */
const defaultHistoryBytes = 256 * 1024 * 1024
/** Interval at which revisions are sampled. History can be cut only at a sample. */
const sampleMs = 1000

const systemClock: CompactorClock = {
  now: () => performance.now(),
  every: (ms, run) => {
    const timer = setInterval(run, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}

interface Sample {
  readonly time: number
  readonly revision: number
  readonly historyBytes: number
}

/**
 * Compacts to the revision that was current `retainMs` ago, every `intervalMs`, and earlier if history grows beyond
 * `maxHistoryBytes`. A failed compaction emits a process warning and is retried. `stop` waits for the running check and
 * compaction.
 */
export function startCompactor(store: Store, options: CompactorOptions = {}): { stop(): Promise<void> } {
  const { intervalMs = fiveMinutesMs, retainMs = fiveMinutesMs, clock = systemClock } = options
  const { maxHistoryBytes = defaultHistoryBytes } = options
  const compactor = new Compactor(store, { intervalMs, retainMs, maxHistoryBytes, clock })
  compactor.check()
  const cancel = clock.every(Math.min(sampleMs, intervalMs, retainMs > 0 ? retainMs : intervalMs), () =>
    compactor.check(),
  )
  return {
    stop: () => {
      cancel()
      return compactor.settled()
    },
  }
}

class Compactor {
  readonly #store: Store
  readonly #options: Required<CompactorOptions>
  /** Samples of past revisions. History begins at the first one. */
  readonly #samples: Sample[]
  #due: number
  #checking: Promise<void> | undefined
  #compacting = Promise.resolve()

  constructor(store: Store, options: Required<CompactorOptions>) {
    this.#store = store
    this.#options = options
    const time = options.clock.now()
    this.#samples = [{ time, revision: store.compactedRevision, historyBytes: 0 }]
    this.#due = time + options.intervalMs
  }

  /** Starts a check, unless the last one is still waiting for the store. */
  check(): void {
    this.#checking ??= this.#check()
      .catch(report)
      .finally(() => {
        this.#checking = undefined
      })
  }

  /** Resolves when no check and no compaction is running. */
  async settled(): Promise<void> {
    await this.#checking
    await this.#compacting
  }

  async #check(): Promise<void> {
    const { intervalMs, retainMs, maxHistoryBytes } = this.#options
    const samples = this.#samples
    const sample = await this.#sample()
    // A sample with the same revision as the last adds nothing.
    if (sample.revision > samples.at(-1)!.revision) samples.push(sample)
    if (sample.time >= this.#due) {
      this.#due += intervalMs
      this.#compactTo(samples.findLastIndex(({ time }) => time <= sample.time - retainMs))
    }
    if (sample.historyBytes - samples[0]!.historyBytes > maxHistoryBytes) {
      const small = samples.findIndex(({ historyBytes }) => historyBytes >= sample.historyBytes - maxHistoryBytes / 2)
      // The newest revisions stay, since clients are about to read them.
      this.#compactTo(Math.min(small, samples.length - 2))
    }
  }

  async #sample(): Promise<Sample> {
    const revision = await this.#store.currentRevision()
    // The time is read last: a revision must not count as older than it is.
    return { time: this.#options.clock.now(), revision, historyBytes: this.#store.historyBytes }
  }

  #compactTo(index: number): void {
    if (index <= 0) return
    this.#samples.splice(0, index)
    const { revision } = this.#samples[0]!
    this.#compacting = this.#compacting.then(() => this.#store.compact(revision)).catch(report)
  }
}

function report(error: unknown): void {
  if (!(error instanceof StoreClosedError))
    process.emitWarning(`compaction failed: ${(error as Error).message}`, { type: 'CompactorWarning' })
}
