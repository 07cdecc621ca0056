/**
 * Compacts a store from time to time, so that history does not grow without end: kube-apiserver does the same to etcd.
 */
import { type Store, StoreClosedError } from './store.ts'

export interface CompactorOptions {
  /** Between two compactions; 5 minutes unless said. */
  readonly intervalMs?: number
  /** How long history is kept at least; 5 minutes unless said. */
  readonly retainMs?: number
  /** History that takes more room than this is cut down to half of it, however young it is; 256 MB unless said. */
  readonly maxHistoryBytes?: number
  readonly clock?: CompactorClock
}

export interface CompactorClock {
  /** Milliseconds, never going back. */
  now(): number
  /** Calls `run` every `ms` until the returned function is called. */
  every(ms: number, run: () => void): () => void
}

const fiveMinutesMs = 300_000
/**
 * At a thousand writes of pods a second, half a minute: a watch that was cut off comes back to it, and need not list
 * all of a large cluster anew.
 */
const usualHistoryBytes = 256 * 1024 * 1024
/** How often revisions are noted, so that history can be cut at one of them. */
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
 * Compacts to the revision that was current `retainMs` ago, every `intervalMs`, and earlier when history grows beyond
 * `maxHistoryBytes`. A compaction that fails is reported as a process warning and tried again. `stop` waits for the one
 * under way.
 */
export function startCompactor(
  store: Store,
  {
    intervalMs = fiveMinutesMs,
    retainMs = fiveMinutesMs,
    maxHistoryBytes = usualHistoryBytes,
    clock = systemClock,
  }: CompactorOptions = {},
): { stop(): Promise<void> } {
  /** Revisions of the past. The first one is where history begins. */
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
  const look = (): void => {
    const sample = sampleOf(store, clock)
    // One that says the same revision as the last says nothing new.
    if (sample.revision > samples.at(-1)!.revision) samples.push(sample)
    if (sample.time >= due) {
      due += intervalMs
      compactTo(samples.findLastIndex(({ time }) => time <= sample.time - retainMs))
    }
    if (sample.historyBytes - samples[0]!.historyBytes > maxHistoryBytes) {
      const small = samples.findIndex(({ historyBytes }) => historyBytes >= sample.historyBytes - maxHistoryBytes / 2)
      // The newest revisions stay: somebody is about to read them.
      compactTo(Math.min(small, samples.length - 2))
    }
  }
  const cancel = clock.every(Math.min(sampleMs, intervalMs, retainMs > 0 ? retainMs : intervalMs), look)
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
