/** Rates of CPU use, from samples of the total. */

interface Sample {
  readonly time: number
  readonly usage: number
  /** In nanocores; undefined for a first sample. */
  readonly rate: number | undefined
}

/** Samples closer together than this, in ms, do not change the rate, which short intervals would make jump. */
const minIntervalMs = 5_000
/** The same for the first rate, which is better early than exact. */
const minFirstIntervalMs = 900
/** The rate of a subject that is not sampled for this time, in ms, is forgotten. */
const lifeMs = 10 * 60_000

export class CpuRates {
  readonly #samples = new Map<string, Sample>()

  /** Adds a sample in ns at a time in ms. Returns the rate in nanocores; undefined for the first sample. */
  add(subject: string, time: number, usage: number): number | undefined {
    const before = this.#samples.get(subject)
    const minMs = before?.rate === undefined ? minFirstIntervalMs : minIntervalMs
    if (before && time - before.time < minMs) return before.rate
    // After a restart the total begins again.
    const isContinued = before && usage >= before.usage
    const rate = isContinued ? Math.round((usage - before.usage) / ((time - before.time) / 1000)) : undefined
    this.#samples.set(subject, { time, usage, rate })
    return rate
  }

  /** Forgets subjects that are no longer sampled. */
  prune(now: number): void {
    for (const [subject, { time }] of this.#samples) if (now - time > lifeMs) this.#samples.delete(subject)
  }
}
