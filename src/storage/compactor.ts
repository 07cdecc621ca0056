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
 * `maxHistoryBytes`. A failed compaction emits a process warning and is retried. `stop` waits for the running
 * compaction.
 */
export function startCompactor(
  store: Store,
  {
    intervalMs = fiveMinutesMs,
    retainMs = fiveMinutesMs,
    maxHistoryBytes = defaultHistoryBytes,
    clock = systemClock,
  }: CompactorOptions = {},
): { stop(): Promise<void> } {
  /** Samples of past revisions. History begins at the first one. */
  const samples: Sample[] = [
    { time: clock.now(), revision: store.compactedRevision, historyBytes: 0 },
    sampleOf(store, clock),
  ]
  let due = clock.now() + intervalMs
  let running = Promise.resolve()

  const compactTo = (index: number): void => {
    if (index <= 0) return
    samples.splice(0, index)
    const { revision } = samples[0]!
    running = running.then(() => store.compact(revision)).catch(report)
  }
  const check = (): void => {
    const sample = sampleOf(store, clock)
    // A sample with the same revision as the last adds nothing.
    if (sample.revision > samples.at(-1)!.revision) samples.push(sample)
    if (sample.time >= due) {
      due += intervalMs
      compactTo(samples.findLastIndex(({ time }) => time <= sample.time - retainMs))
    }
    if (sample.historyBytes - samples[0]!.historyBytes > maxHistoryBytes) {
      const small = samples.findIndex(({ historyBytes }) => historyBytes >= sample.historyBytes - maxHistoryBytes / 2)
      // The newest revisions stay, since clients are about to read them.
      compactTo(Math.min(small, samples.length - 2))
    }
  }
  const cancel = clock.every(Math.min(sampleMs, intervalMs, retainMs > 0 ? retainMs : intervalMs), check)
  return {
    stop: () => {
      cancel()
      return running
    },
  }
}

const sampleOf = ({ revision, historyBytes }: Store, clock: CompactorClock): Sample => ({
  time: clock.now(),
  revision,
  historyBytes,
})

function report(error: unknown): void {
  if (!(error instanceof StoreClosedError))
    process.emitWarning(`compaction failed: ${(error as Error).message}`, { type: 'CompactorWarning' })
}
