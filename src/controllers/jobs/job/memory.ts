/** State of Jobs in memory between reconciles. It may be lost at a restart. */
import type { Job, Pod } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { isTracked, trackingFinalizer } from './pods.ts'
import { type BackOff, noBackOff } from './policies/back-off.ts'

interface JobMemoryEntry {
  backOff: BackOff
  /** The lowest resourceVersion to reconcile: the cached Job may be older than the last write. */
  leastVersion: bigint
  /** Uids of pods whose finalizer was removed, which the cache may not contain yet. */
  readonly released: Set<string>
}

export class JobMemory {
  /** Keyed by uid. */
  readonly #jobs = new Map<string, JobMemoryEntry>()

  of({ metadata: { uid = '' } }: Job): JobMemoryEntry {
    let known = this.#jobs.get(uid)
    if (!known) this.#jobs.set(uid, (known = { backOff: noBackOff, leastVersion: 0n, released: new Set() }))
    return known
  }

  /** Records the Job that the server returned for a write. */
  recordWrite(job: Job): void {
    this.of(job).leastVersion = versionOf(job)
  }

  /** Records that the server has a newer version of the Job, so that this one is not reconciled. */
  markOutdated(job: Job): void {
    this.of(job).leastVersion = versionOf(job) + 1n
  }

  /** Returns true if the controller knows of a newer version. */
  isOutdated(job: Job): boolean {
    return versionOf(job) < this.of(job).leastVersion
  }

  /** Returns the pod without its finalizer if that was removed. */
  withoutReleasedFinalizer(pod: Pod, job: Job): Pod {
    if (!this.of(job).released.has(pod.metadata.uid ?? '')) return pod
    return {
      ...pod,
      metadata: { ...pod.metadata, finalizers: pod.metadata.finalizers?.filter((name) => name !== trackingFinalizer) },
    }
  }

  /** Processes a change of a pod from a watch. */
  observe(pod: Pod | undefined, old: Pod | undefined): void {
    const seen = pod ?? old
    if (seen && !(pod && isTracked(pod)))
      this.#jobs.get(controllerOf(seen)?.uid ?? '')?.released.delete(seen.metadata.uid ?? '')
  }

  /** Drops the state of a Job that has finished or was deleted. */
  forget({ metadata: { uid = '' } }: Job): void {
    this.#jobs.delete(uid)
  }
}

const versionOf = ({ metadata }: Job): bigint => BigInt(metadata.resourceVersion ?? 0)
