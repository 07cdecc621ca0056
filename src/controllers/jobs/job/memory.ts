/**
 * What the controller remembers of a Job between two looks at it: nothing that it could not do without after a restart.
 */
import type { Job, Pod } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { isTracked, trackingFinalizer } from './pods.ts'
import { type BackOff, noBackOff } from './policies/back-off.ts'

interface Remembered {
  backOff: BackOff
  /** The least version of the Job that is worth a look: what the cache has may be older than what was written last. */
  leastVersion: bigint
  /** Uids of pods whose finalizer was removed, though the cache does not show it yet. */
  readonly released: Set<string>
}

export class JobMemory {
  /** By uid. */
  readonly #jobs = new Map<string, Remembered>()

  of({ metadata: { uid = '' } }: Job): Remembered {
    let known = this.#jobs.get(uid)
    if (!known) this.#jobs.set(uid, (known = { backOff: noBackOff, leastVersion: 0n, released: new Set() }))
    return known
  }

  /** This is what the server has of the Job. */
  written(job: Job): void {
    this.of(job).leastVersion = versionOf(job)
  }

  /** The server has something newer of the Job: what is decided by this state would be for nothing. */
  outdated(job: Job): void {
    this.of(job).leastVersion = versionOf(job) + 1n
  }

  /** Whether this is not the newest state that the controller knows of. */
  isOutdated(job: Job): boolean {
    return versionOf(job) < this.of(job).leastVersion
  }

  /** The pod as it is by now. */
  asReleased(pod: Pod, job: Job): Pod {
    if (!this.of(job).released.has(pod.metadata.uid ?? '')) return pod
    return {
      ...pod,
      metadata: { ...pod.metadata, finalizers: pod.metadata.finalizers?.filter((name) => name !== trackingFinalizer) },
    }
  }

  /** Takes note of what a watch tells of a pod. */
  observe(pod: Pod | undefined, before: Pod | undefined): void {
    const seen = pod ?? before
    if (seen && !(pod && isTracked(pod)))
      this.#jobs.get(controllerOf(seen)?.uid ?? '')?.released.delete(seen.metadata.uid ?? '')
  }

  /** The Job has ended, or gone. */
  forget({ metadata: { uid = '' } }: Job): void {
    this.#jobs.delete(uid)
  }
}

const versionOf = ({ metadata }: Job): bigint => BigInt(metadata.resourceVersion ?? 0)
