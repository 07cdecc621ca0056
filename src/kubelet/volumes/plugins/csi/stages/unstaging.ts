/**
 * Unstages volumes after their last pod, in the background: as upstream, the removal of a pod waits until its volumes
 * are unpublished, and no longer. Failures are retried with a growing delay.
 */
import type { KeyedQueue } from '../../../../../lib/flow/keyed-queue.ts'
import type { CsiPaths, StagedVolume } from '../volume-data.ts'

export interface UnstagingOptions {
  readonly csiPaths: Pick<CsiPaths, 'podVolumes'>
  /** The operations of each volume, by its key. */
  readonly operations: KeyedQueue
  readonly schedule: (callback: () => void, ms: number) => () => void
  readonly log: (line: string) => void
  unstage(volume: StagedVolume): Promise<void>
}

const firstRetryMs = 500
const maxRetryMs = 122_000

/** The key of a volume's operations. */
export const volumeKey = (driver: string, handle: string): string => `${driver}^${handle}`

export class Unstaging {
  readonly #options: UnstagingOptions
  /** Cancels retries, by the volume's key. */
  readonly #retries = new Map<string, () => void>()
  #isStopped = false

  constructor(options: UnstagingOptions) {
    this.#options = options
  }

  /** Unstages a volume, unless a pod uses it. */
  begin(volume: StagedVolume): void {
    void this.#run(volume, 0)
  }

  stop(): void {
    this.#isStopped = true
    for (const cancel of this.#retries.values()) cancel()
    this.#retries.clear()
  }

  async #run(volume: StagedVolume, failures: number): Promise<void> {
    const { operations, unstage, log, schedule } = this.#options
    const key = volumeKey(volume.driverName, volume.volumeHandle)
    this.#retries.get(key)?.()
    this.#retries.delete(key)
    try {
      await operations.run(key, async () => {
        if (!this.#isStopped && !(await this.#isUsed(volume))) await unstage(volume)
      })
    } catch (error) {
      if (this.#isStopped) return
      log(`UnmountDevice failed for volume ${JSON.stringify(key)}: ${(error as Error).message}`)
      const retryMs = Math.min(firstRetryMs * 2 ** failures, maxRetryMs)
      this.#retries.get(key)?.()
      this.#retries.set(
        key,
        schedule(() => void this.#run(volume, failures + 1), retryMs),
      )
    }
  }

  async #isUsed({ driverName, volumeHandle }: StagedVolume): Promise<boolean> {
    const volumes = await this.#options.csiPaths.podVolumes()
    return volumes.some((one) => one.driverName === driverName && one.volumeHandle === volumeHandle)
  }
}
