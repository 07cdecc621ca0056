/**
 * Compacts etcd together with other API servers, kube-apiserver included: in each interval one of them wins the
 * exchange of a key, and compacts to the revision that it saw one interval ago.
 */

/** The result of an exchange of the key. */
export interface Exchange {
  /** True if the version was the expected one, so that this process compacts. */
  readonly isWon: boolean
  /** The key's version now. */
  readonly version: number
  /** The current revision of etcd. */
  readonly revision: number
  /** The revision that the last winner has compacted to; 0 if unknown. */
  readonly compacted: number
}

export interface CompactionOptions {
  readonly intervalMs: number
  /** Writes `revision` into the key if its version is the expected one. */
  exchange(expectedVersion: number, revision: number): Promise<Exchange>
  compact(revision: number): Promise<void>
  /** Called with the revision that another process has compacted to. */
  learn(compacted: number): void
  failed(error: unknown): void
  /** Calls `run` every `ms` until the returned function is called. */
  every(ms: number, run: () => void): () => void
}

export class Compaction {
  readonly #options: CompactionOptions
  readonly #cancel: () => void
  #running: Promise<void> | undefined
  #version = 0
  /** The revision one interval ago; 0 at first. */
  #revision = 0

  constructor(options: CompactionOptions) {
    this.#options = options
    this.#cancel = options.every(options.intervalMs, () => {
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined
      })
    })
  }

  /** Resolves when no compaction is running and none will. */
  async stop(): Promise<void> {
    this.#cancel()
    await this.#running
  }

  async #run(): Promise<void> {
    const { exchange, compact, learn, failed } = this.#options
    const before = this.#revision
    try {
      const { isWon, version, revision, compacted } = await exchange(this.#version, before)
      this.#version = version
      this.#revision = revision
      if (!isWon) learn(compacted)
      else if (before > 0) await compact(before)
    } catch (error) {
      failed(error)
    }
  }
}
