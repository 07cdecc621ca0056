/** Reads of etcd: linearizable, and lists page by page at one revision. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import { KV, type RangeRequestSchema, type RangeResponse } from '#protobuf/etcd-rpc_pb.js'
import type { Entry, KeyRange, ListOptions, ListResult } from '../store.ts'
import type { Channel } from './client/channel.ts'
import { entryOf } from './entries.ts'
import { type Revisions, readError } from './errors.ts'

/** Time for a read with its retries, in ms. */
export const readTimeoutMs = 10_000
/** Entries of one request. */
const pageSize = 2_000
/** The smallest key. */
const firstKey = Buffer.of(0)

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
    const { kvs } = await this.#range({ key: Buffer.from(key), revision: BigInt(revision) }, revision)
    return kvs[0] && entryOf(kvs[0])
  }

  async list({ start, end, limit = 0, revision = 0 }: ListOptions): Promise<ListResult> {
    const entries: Entry[] = []
    let at = revision
    for (let key = startOf(start); ; ) {
      const size = limit ? Math.min(pageSize, limit - entries.length) : pageSize
      const range = { key, rangeEnd: Buffer.from(end), limit: BigInt(size), revision: BigInt(at) }
      const { kvs, more, header } = await this.#range(range, at)
      at ||= Number(header!.revision)
      for (const kv of kvs) entries.push(entryOf(kv))
      if (!more || entries.length === limit) return { entries, revision: at, more }
      key = Buffer.from(`${entries.at(-1)!.key}\0`)
    }
  }

  async count({ start, end }: KeyRange, revision = 0): Promise<number> {
    const range = { key: startOf(start), rangeEnd: Buffer.from(end), countOnly: true, revision: BigInt(revision) }
    return Number((await this.#range(range, revision)).count)
  }

  #ask(): Promise<number> {
    this.#following = undefined
    const asked = this.#range({ key: firstKey, countOnly: true }, 0).then(({ header }) => Number(header!.revision))
    const settled = () => {
      if (this.#current === asked) this.#current = undefined
    }
    this.#current = asked
    asked.then(settled, settled)
    return asked
  }

  async #range(request: MessageInitShape<typeof RangeRequestSchema>, revision: number): Promise<RangeResponse> {
    try {
      return await this.#channel.call(KV.method.range, request, { timeoutMs: readTimeoutMs, isSafe: true })
    } catch (error) {
      throw await readError(error, revision, this.#revisions)
    }
  }
}

const startOf = (start: string): Buffer => (start === '' ? firstKey : Buffer.from(start))
