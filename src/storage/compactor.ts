/** Compacts a store from time to time, so that history does not grow without end: kube-apiserver does the same to etcd. */
import { type Store, StoreClosedError } from './store.ts'

export interface CompactorOptions {
  /** Between two compactions; 5 minutes unless said. */
  readonly intervalMs?: number
  /** How long history is kept at least; 5 minutes unless said. */
  readonly retainMs?: number
  readonly clock?: CompactorClock
}

export interface CompactorClock {
  /** Milliseconds, never going back. */
  now(): number
  /** Calls `run` every `ms` until the returned function is called. */
  every(ms: number, run: () => void): () => void
}

const fiveMinutesMs = 300_000

const systemClock: CompactorClock = {
  now: () => performance.now(),
  every: (ms, run) => {
    const timer = setInterval(run, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}

/**
 * Compacts to the revision that was current `retainMs` ago, every `intervalMs`. A compaction that fails is reported as a
 * process warning and tried again. `stop` waits for the one under way.
 */
export function startCompactor(
  store: Store,
  { intervalMs = fiveMinutesMs, retainMs = fiveMinutesMs, clock = systemClock }: CompactorOptions = {},
): { stop(): Promise<void> } {
  const samples = [{ time: clock.now(), revision: store.revision }]
  let due = clock.now() + intervalMs
  let running = Promise.resolve()

  const look = () => {
    const now = clock.now()
    samples.push({ time: now, revision: store.revision })
    if (now < due) return
    due += intervalMs
    const index = samples.findLastIndex(({ time }) => time <= now - retainMs)
    if (index < 0) return
    const { revision } = samples[index]!
    samples.splice(0, index)
    running = running.then(() => store.compact(revision)).catch(report)
  }
  const cancel = clock.every(retainMs > 0 ? Math.min(intervalMs, retainMs) : intervalMs, look)
  return {
    stop: () => {
      cancel()
      return running
    },
  }
}

function report(error: unknown): void {
  if (!(error instanceof StoreClosedError)) process.emitWarning(`compaction failed: ${(error as Error).message}`, { type: 'CompactorWarning' })
}
