/** The disk space of containers' logs and of pods' folders, measured at intervals since it takes reading folders. */
import { type FolderUsage, folderUsage } from './file-systems.ts'

interface Measurement {
  usage: FolderUsage | undefined
  /** In ms since 1970. */
  measured: number
  measuring: Promise<void> | undefined
  /** The time of the last read, in ms since 1970. */
  read: number
}

/** The default of `volumeStatsAggPeriod`, in ms. */
const defaultIntervalMs = 60_000
/** A folder that is not read for this time, in ms, is forgotten. */
const lifeMs = 10 * 60_000

export class FolderUsages {
  readonly #now: () => number
  readonly #intervalMs: number
  readonly #known = new Map<string, Measurement>()
  #misses = 0

  constructor(now: () => number, intervalMs: number = defaultIntervalMs) {
    this.#now = now
    this.#intervalMs = intervalMs
  }

  /** The number of reads so far that found no usage. */
  get misses(): number {
    return this.#misses
  }

  /** The newest usage of a folder; undefined before the first one. A stale one is measured in the background. */
  of(folder: string): FolderUsage | undefined {
    const entry = this.#known.get(folder) ?? { usage: undefined, measured: 0, measuring: undefined, read: 0 }
    this.#known.set(folder, entry)
    entry.read = this.#now()
    if (this.#now() - entry.measured >= this.#intervalMs) entry.measuring ??= this.#measure(folder, entry)
    if (!entry.usage) this.#misses++
    return entry.usage
  }

  /** Resolves when every folder was measured once. */
  async measureNew(): Promise<void> {
    const unknown = [...this.#known.values()].filter(({ usage, measuring }) => !usage && measuring)
    await Promise.all(unknown.map(({ measuring }) => measuring))
  }

  /** Forgets folders that are no longer read. */
  prune(): void {
    const now = this.#now()
    for (const [folder, { read }] of this.#known) if (now - read > lifeMs) this.#known.delete(folder)
  }

  async #measure(folder: string, entry: Measurement): Promise<void> {
    try {
      entry.usage = await folderUsage(folder)
    } finally {
      entry.measured = this.#now()
      entry.measuring = undefined
    }
  }
}
