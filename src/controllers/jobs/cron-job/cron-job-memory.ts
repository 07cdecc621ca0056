/** State of CronJobs in memory between reconciles. It may be lost at a restart. */
import type { CronJob, Job } from '../../../client/kinds.ts'

/** State of one CronJob. */
export class CronJobState {
  /** The resourceVersion of the last status written; the cache may still have an older one. */
  #writtenVersion = 0n
  /** `about` of the last event by reason, so that it is not recorded at every reconcile. */
  readonly #recordedEvents = new Map<string, string>()
  /** Uids of unexpected Jobs. */
  #unexpected: ReadonlySet<string | undefined> = new Set()

  /** Records the CronJob that the server returned for a write. */
  recordWrite(written: CronJob): void {
    this.#writtenVersion = versionOf(written)
  }

  /** Returns true if a newer version has been written. */
  isOutdated(cron: CronJob): boolean {
    return versionOf(cron) < this.#writtenVersion
  }

  /** Returns true unless the previous event of that reason had the same `about`. */
  shouldRecord(reason: string, about: string): boolean {
    if (this.#recordedEvents.get(reason) === about) return false
    this.#recordedEvents.set(reason, about)
    return true
  }

  /** Replaces the unexpected Jobs; returns those that are new. */
  updateUnexpected(jobs: readonly Job[]): Job[] {
    const previous = this.#unexpected
    this.#unexpected = new Set(jobs.map(({ metadata }) => metadata.uid))
    return jobs.filter(({ metadata }) => !previous.has(metadata.uid))
  }
}

export class CronJobMemory {
  /** Keyed by uid. */
  readonly #states = new Map<string, CronJobState>()

  of({ metadata: { uid = '' } }: CronJob): CronJobState {
    let state = this.#states.get(uid)
    if (!state) this.#states.set(uid, (state = new CronJobState()))
    return state
  }

  /** Drops the state of a deleted CronJob. */
  forget({ metadata: { uid = '' } }: CronJob): void {
    this.#states.delete(uid)
  }
}

const versionOf = ({ metadata }: CronJob): bigint => BigInt(metadata.resourceVersion ?? 0)
