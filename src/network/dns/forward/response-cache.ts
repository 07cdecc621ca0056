/** Responses of other servers, for as long as they hold. */

interface CachedResponse {
  readonly message: Buffer
  readonly ttlOffsets: readonly number[]
  /** ms of the clock. */
  readonly storedAt: number
  readonly endsAt: number
}

/** As CoreDNS. */
const maxEntries = 9984

export class ResponseCache {
  readonly #now: () => number
  /** The least recently stored first. */
  readonly #entries = new Map<string, CachedResponse>()

  /** `now` returns ms of a clock that does not go back. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Stores a response for `seconds`. */
  set(key: string, message: Buffer, ttlOffsets: readonly number[], seconds: number): void {
    const storedAt = this.#now()
    this.#entries.delete(key)
    this.#entries.set(key, { message, ttlOffsets, storedAt, endsAt: storedAt + 1000 * seconds })
    if (this.#entries.size <= maxEntries) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  /** A copy whose TTLs are what is left of them. */
  get(key: string): Buffer | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    const now = this.#now()
    if (now >= entry.endsAt) {
      this.#entries.delete(key)
      return undefined
    }
    const message = Buffer.from(entry.message)
    const age = Math.floor((now - entry.storedAt) / 1000)
    for (const at of entry.ttlOffsets) message.writeUInt32BE(Math.max(0, message.readUInt32BE(at) - age), at)
    return message
  }

  get size(): number {
    return this.#entries.size
  }
}
