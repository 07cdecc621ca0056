/**
 * A part of a store as an empty store of its own, for tests that share one: its keys have a prefix, and its revisions
 * begin at 1.
 */
import {
  type ChangeEvent,
  type CommitResult,
  CompactedError,
  type Entry,
  FutureRevisionError,
  type KeyRange,
  type ListOptions,
  type Observer,
  type PortionSize,
  type Store,
  type Transaction,
  type Watch,
} from '../store.ts'

export class ShiftedStore implements Store {
  readonly #store: Store
  readonly #prefix: string
  /** The store's revision minus that of the part. */
  readonly #shift: number
  readonly isShared: boolean
  readonly historyBytes = 0

  /** `base` is the revision at which the part is empty. */
  constructor(store: Store, prefix: string, base: number) {
    this.#store = store
    this.#prefix = prefix
    this.#shift = base - 1
    this.isShared = store.isShared
  }

  get problem(): string | undefined {
    return this.#store.problem
  }

  get compactedRevision(): number {
    return Math.max(0, this.#store.compactedRevision - this.#shift)
  }

  async currentRevision(): Promise<number> {
    return (await this.#store.currentRevision()) - this.#shift
  }

  async get(key: string, revision?: number): Promise<Entry | undefined> {
    const found = await this.#mapped(this.#store.get(this.#key(key), this.#revision(revision)))
    return found && this.#entry(found)
  }

  async list({ limit, revision, ...range }: ListOptions) {
    const options = { ...this.#range(range), limit, revision: this.#revision(revision) }
    const listed = await this.#mapped(this.#store.list(options))
    return {
      ...listed,
      entries: listed.entries.map((entry) => this.#entry(entry)),
      revision: listed.revision - this.#shift,
    }
  }

  count({ revision, ...range }: Omit<ListOptions, 'limit'>): Promise<number> {
    return this.#mapped(this.#store.count({ ...this.#range(range), revision: this.#revision(revision) }))
  }

  async commit({ conditions, operations }: Transaction): Promise<CommitResult> {
    const result = await this.#store.commit({
      conditions: conditions.map(({ key, revision }) => ({
        key: this.#key(key),
        revision: this.#revision(revision) ?? 0,
      })),
      operations: operations.map((operation) => ({ ...operation, key: this.#key(operation.key) })),
    })
    if (result.committed) return { committed: true, revision: result.revision - this.#shift }
    return { committed: false, current: result.current.map((found) => found && this.#entry(found)) }
  }

  watch(range: KeyRange, after: number, observer: Observer): Watch {
    const watch = this.#store.watch(this.#range(range), this.#after(after), {
      wantsPrevious: observer.wantsPrevious,
      events: (events) => observer.events(events.map((event) => this.#event(event))),
      ...(observer.caughtUp && { caughtUp: () => observer.caughtUp?.() }),
      end: (error) => observer.end(this.#error(error)),
    })
    const shift = this.#shift
    return {
      get position() {
        return Math.max(after, watch.position - shift)
      },
      stop: () => watch.stop(),
    }
  }

  async changes(range: KeyRange, after: number, size?: PortionSize) {
    const { events, through } = await this.#mapped(this.#store.changes(this.#range(range), this.#after(after), size))
    return { events: events.map((event) => this.#event(event)), through: through - this.#shift }
  }

  compact(revision: number): Promise<void> {
    return this.#mapped(this.#store.compact(revision + this.#shift))
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** An empty key is invalid, with a prefix too. */
  #key(key: string): string {
    return key === '' ? '' : `${this.#prefix}${key}`
  }

  #range({ start, end }: KeyRange): KeyRange {
    return { start: `${this.#prefix}${start}`, end: `${this.#prefix}${end}` }
  }

  #revision(revision: number | undefined): number | undefined {
    return revision && revision + this.#shift
  }

  /** The part has no changes at revision 1: history after 0 is that after 1, until it is compacted. */
  #after(revision: number): number {
    return (revision === 0 && this.compactedRevision <= 1 ? 1 : revision) + this.#shift
  }

  #entry({ key, value, revision }: Entry): Entry {
    return { key: key.slice(this.#prefix.length), value, revision: revision - this.#shift }
  }

  #event(event: ChangeEvent): ChangeEvent {
    const { key, revision, previous } = event
    return {
      ...event,
      key: key.slice(this.#prefix.length),
      revision: revision - this.#shift,
      previous: previous && this.#entry(previous),
    }
  }

  async #mapped<Result>(promise: Promise<Result>): Promise<Result> {
    try {
      return await promise
    } catch (error) {
      throw this.#error(error as Error)
    }
  }

  #error(error: Error): Error {
    if (error instanceof CompactedError) return new CompactedError(1, error.compactedRevision - this.#shift)
    const [, asked, current] = /(\d+) is in the future: the store is at (\d+)/.exec(error.message) ?? []
    return asked ? new FutureRevisionError(Number(asked) - this.#shift, Number(current) - this.#shift) : error
  }
}
