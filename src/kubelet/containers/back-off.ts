/**
 * Back-off of restarts (CrashLoopBackOff) and image pulls: doubles from an initial delay to a maximum, and is forgotten
 * when a key was not used for ten minutes.
 */
export interface BackOffLimits {
  readonly initialMs: number
  readonly maxMs: number
  /** A container that ran this long starts with the initial delay again. */
  readonly resetMs: number
}

/** The limits of restarts. `maxMs` lowers the usual one; `isReduced`: the gate ReduceDefaultCrashLoopBackOffDecay. */
export function restartBackOff(maxMs?: number, isReduced = false): BackOffLimits {
  const max = maxMs ?? (isReduced ? 60_000 : 300_000)
  return { initialMs: Math.min(isReduced ? 1_000 : 10_000, max), maxMs: max, resetMs: 600_000 }
}

export const pullBackOff: BackOffLimits = { initialMs: 10_000, maxMs: 300_000, resetMs: 600_000 }

interface Entry {
  readonly delayMs: number
  readonly updated: number
}

export class BackOff {
  readonly #limits: BackOffLimits
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()

  constructor(limits: BackOffLimits, now: () => number = Date.now) {
    this.#limits = limits
    this.#now = now
  }

  /** The delay of a key in ms: 0 before its first failure. */
  delayMs(key: string): number {
    return this.#current(key)?.delayMs ?? 0
  }

  /** The time in ms for which a key still has to wait after its failure at `failedAt` (ms since 1970). */
  remainingMs(key: string, failedAt = this.#current(key)?.updated ?? 0): number {
    const delay = this.delayMs(key)
    return delay === 0 ? 0 : Math.max(0, failedAt + delay - this.#now())
  }

  /** Doubles the delay of a key, at the start of an attempt. */
  next(key: string): void {
    const { initialMs, maxMs } = this.#limits
    const current = this.#current(key)
    const delayMs = current ? Math.min(current.delayMs * 2, maxMs) : initialMs
    this.#entries.set(key, { delayMs, updated: this.#now() })
  }

  forget(key: string): void {
    this.#entries.delete(key)
  }

  /** Drops the keys that were not used for long. */
  collect(): void {
    for (const key of this.#entries.keys()) this.#current(key)
  }

  #current(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (this.#now() - entry.updated <= this.#limits.resetMs) return entry
    this.#entries.delete(key)
    return undefined
  }
}
