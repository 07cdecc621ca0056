/**
 * Writes of a controller that its cache does not contain yet. A decision that adds up several objects would get a wrong
 * sum from a stale one, without any conflict. Owners are identified by uid. Recorded writes expire, in real time.
 */
import { isCertainlyNotApplied } from '../../../client/rest/api-errors.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { expectationsExpireMs } from './expectations.ts'

interface Written {
  readonly resourceVersion: number
  readonly since: number
}

export class OwnWrites {
  readonly #byOwner = new Map<string, Map<string, Written>>()
  /** Owners with a write whose outcome is unknown. */
  readonly #unsure = new Set<string>()
  readonly #now: () => number

  /** `now` returns ms. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Records the outcome of a write; resolves and rejects as `write`. */
  async record<T extends KubeObject>(owner: string, write: Promise<T>): Promise<T> {
    try {
      const object = await write
      this.recordWrite(owner, object)
      return object
    } catch (error) {
      this.recordFailure(owner, error)
      throw error
    }
  }

  /** Records the object that the server returned for a write. */
  recordWrite(owner: string, { metadata }: KubeObject): void {
    const written = this.#byOwner.get(owner) ?? new Map<string, Written>()
    this.#byOwner.set(owner, written)
    written.set(metadata.uid ?? '', { resourceVersion: versionOf(metadata.resourceVersion), since: this.#now() })
  }

  /** Records a failed write; it may have succeeded on the server. */
  recordFailure(owner: string, error: unknown): void {
    if (!isCertainlyNotApplied(error)) this.#unsure.add(owner)
  }

  /** Returns true if the owner's objects must be listed from the server and passed to `recordRefresh`. */
  needsRefresh(owner: string): boolean {
    return this.#unsure.has(owner)
  }

  /** Records all objects of an owner as listed from the server. */
  recordRefresh(owner: string, objects: Iterable<KubeObject>): void {
    for (const object of objects) this.recordWrite(owner, object)
    this.#unsure.delete(owner)
  }

  /** Processes a change from a watch; `object` is undefined after a delete. */
  observe(owner: string, object: KubeObject | undefined, old: KubeObject | undefined): void {
    const written = this.#byOwner.get(owner)
    const { uid = '', resourceVersion } = (object ?? old)?.metadata ?? {}
    const recorded = written?.get(uid)
    if (!written || !recorded || (object && versionOf(resourceVersion) < recorded.resourceVersion)) return
    written.delete(uid)
    if (written.size === 0) this.#byOwner.delete(owner)
  }

  /** Returns true if the owner's objects in the cache (`cached`) include all recorded writes. */
  areObserved(owner: string, cached: Iterable<KubeObject>): boolean {
    const written = this.#byOwner.get(owner)
    if (!written) return true
    // The watch event may have arrived before the response.
    for (const object of cached) this.observe(owner, object, undefined)
    for (const [uid, { since }] of written) if (this.#now() - since > expectationsExpireMs) written.delete(uid)
    return written.size === 0
  }

  /** Drops the writes of a deleted owner. */
  forget(owner: string): void {
    this.#byOwner.delete(owner)
    this.#unsure.delete(owner)
  }
}

const versionOf = (resourceVersion: string | undefined): number => Number(resourceVersion ?? 0)
