/**
 * What a controller has written itself and its cache does not show yet. Where a decision adds up several objects, one
 * that is older than it was written makes for a wrong sum, and no conflict tells. Owners are named by their uids; what
 * is never seen is forgotten after a while.
 */
import { isSurelyRefused } from '../../../client/rest/refusals.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { expectationsExpireMs } from './expectations.ts'

interface Written {
  readonly resourceVersion: number
  readonly since: number
}

export class OwnWrites {
  readonly #byOwner = new Map<string, Map<string, Written>>()
  /** Owners of whose objects it is not known whether they were written. */
  readonly #unsure = new Set<string>()
  readonly #now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Notes an object of an owner as the server has answered it. */
  wrote(owner: string, { metadata }: KubeObject): void {
    const written = this.#byOwner.get(owner) ?? new Map<string, Written>()
    this.#byOwner.set(owner, written)
    written.set(metadata.uid ?? '', { resourceVersion: versionOf(metadata.resourceVersion), since: this.#now() })
  }

  /** Notes a write that failed: it may be done all the same. */
  failed(owner: string, error: unknown): void {
    if (!isSurelyRefused(error)) this.#unsure.add(owner)
  }

  /** Whether the server has to be asked what an owner has: what it says is to be noted as written, by `found`. */
  isUnsure(owner: string): boolean {
    return this.#unsure.has(owner)
  }

  /** Notes all that the server has of an owner. */
  found(owner: string, objects: Iterable<KubeObject>): void {
    for (const object of objects) this.wrote(owner, object)
    this.#unsure.delete(owner)
  }

  /** Takes note of a change as a watch tells it: `object` is undefined where it has gone. */
  observe(owner: string, object: KubeObject | undefined, before: KubeObject | undefined): void {
    const written = this.#byOwner.get(owner)
    const { uid = '', resourceVersion } = (object ?? before)?.metadata ?? {}
    const noted = written?.get(uid)
    if (!written || !noted || (object && versionOf(resourceVersion) < noted.resourceVersion)) return
    written.delete(uid)
    if (written.size === 0) this.#byOwner.delete(owner)
  }

  /** Whether a cache shows all that was written for an owner: `cached` are its objects there. */
  areSeen(owner: string, cached: Iterable<KubeObject>): boolean {
    const written = this.#byOwner.get(owner)
    if (!written) return true
    // The watch may have been faster than the answer.
    for (const object of cached) this.observe(owner, object, undefined)
    for (const [uid, { since }] of written) if (this.#now() - since > expectationsExpireMs) written.delete(uid)
    return written.size === 0
  }

  /** The owner has gone. */
  forget(owner: string): void {
    this.#byOwner.delete(owner)
    this.#unsure.delete(owner)
  }
}

const versionOf = (resourceVersion: string | undefined): number => Number(resourceVersion ?? 0)
