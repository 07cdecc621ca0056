/** Reads of etcd: linearizable, and lists page by page at one revision. */
import type { Entry, KeyRange, ListOptions, ListResult } from '../store.ts'
import type { Channel } from './client/channel.ts'
import { type Revisions, readError } from './errors.ts'
import { type RangeRequest, type RangeResponse, rangeMethod } from './messages/range.ts'

/** Time for a read with its retries, in ms. */
export const readTimeoutMs = 10_000
/** Entries of one request. */
const pageSize = 2_000
/** The smallest key. */
const firstKey = '\0'

export class Reads {
  readonly #channel: Channel
  readonly #revisions: Revisions
  #current: Promise<number> | undefined
  #following: Promise<number> | undefined

  constructor(channel: Channel, revisions: Revisions) {
    this.#channel = channel
    this.#revisions = revisions
  }

  /** Returns the revision of etcd. Calls during a request share the next one, which starts when that has ended. */
  currentRevision(): Promise<number> {
    if (!this.#current) return this.#ask()
    this.#following ??= this.#current.then(
      () => this.#ask(),
      () => this.#ask(),
    )
    return this.#following
  }

  async get(key: string, revision = 0): Promise<Entry | undefined> {
    const { found } = await this.#range({ key, revision })
    return found[0]?.entry
  }

  async list({ start, end, limit = 0, revision = 0 }: ListOptions): Promise<ListResult> {
    const entries: Entry[] = []
    let at = revision
    for (let key = startOf(start); ; ) {
      const size = limit ? Math.min(pageSize, limit - entries.length) : pageSize
      const { found, more, current } = await this.#range({ key, rangeEnd: end, limit: size, revision: at })
      at ||= current
      for (const { entry } of found) entries.push(entry)
      if (!more || entries.length === limit) return { entries, revision: at, more }
      key = `${entries.at(-1)!.key}\0`
    }
  }

  async count({ start, end }: KeyRange, revision = 0): Promise<number> {
    return (await this.#range({ key: startOf(start), rangeEnd: end, countOnly: true, revision })).count
  }

  #ask(): Promise<number> {
    this.#following = undefined
    const asked = this.#range({ key: firstKey, countOnly: true }).then(({ current }) => current)
    const settled = () => {
      if (this.#current === asked) this.#current = undefined
    }
    this.#current = asked
    asked.then(settled, settled)
    return asked
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    try {
      return await this.#channel.call(rangeMethod, request, { timeoutMs: readTimeoutMs, isSafe: true })
    } catch (error) {
      throw await readError(error, request.revision ?? 0, this.#revisions)
    }
  }
}

const startOf = (start: string): string => start || firstKey
