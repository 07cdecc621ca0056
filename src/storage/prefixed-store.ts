/** A store whose keys have another prefix than its users see (`--etcd-prefix`). Keys without it are the same. */
import type {
  ChangeEvent,
  Changes,
  CommitResult,
  Entry,
  KeyRange,
  ListOptions,
  ListResult,
  Observer,
  PortionSize,
  Store,
  Transaction,
  Watch,
} from './store.ts'

export interface Prefixes {
  /** The prefix that users of the store see, without a `/` at its end. */
  readonly seen: string
  /** The prefix in the store, without a `/` at its end. */
  readonly stored: string
}

export class PrefixedStore implements Store {
  readonly #inner: Store
  readonly #prefixes: Prefixes
  readonly isShared: boolean

  constructor(inner: Store, prefixes: Prefixes) {
    this.#inner = inner
    this.#prefixes = prefixes
    this.isShared = inner.isShared
  }

  get compactedRevision(): number {
    return this.#inner.compactedRevision
  }

  get historyBytes(): number {
    return this.#inner.historyBytes
  }

  get sizeBytes(): number | undefined {
    return this.#inner.sizeBytes
  }

  get problem(): string | undefined {
    return this.#inner.problem
  }

  currentRevision(): Promise<number> {
    return this.#inner.currentRevision()
  }

  async get(key: string, revision?: number): Promise<Entry | undefined> {
    const entry = await this.#inner.get(this.#stored(key), revision)
    return entry && this.#seenEntry(entry)
  }

  async list(options: ListOptions): Promise<ListResult> {
    const result = await this.#inner.list({ ...options, ...this.#storedRange(options) })
    return { ...result, entries: result.entries.map((entry) => this.#seenEntry(entry)) }
  }

  count(options: Omit<ListOptions, 'limit'>): Promise<number> {
    return this.#inner.count({ ...options, ...this.#storedRange(options) })
  }

  async commit({ conditions, operations }: Transaction): Promise<CommitResult> {
    const result = await this.#inner.commit({
      conditions: conditions.map(({ key, revision }) => ({ key: this.#stored(key), revision })),
      operations: operations.map((operation) => ({ ...operation, key: this.#stored(operation.key) })),
    })
    if (result.committed) return result
    return { committed: false, current: result.current.map((entry) => entry && this.#seenEntry(entry)) }
  }

  watch(range: KeyRange, after: number, observer: Observer): Watch {
    return this.#inner.watch(this.#storedRange(range), after, {
      wantsPrevious: observer.wantsPrevious,
      events: (events) => observer.events(events.map((event) => this.#seenEvent(event))),
      ...(observer.caughtUp && { caughtUp: () => observer.caughtUp?.() }),
      end: (error) => observer.end(error),
    })
  }

  async changes(range: KeyRange, after: number, size?: PortionSize): Promise<Changes> {
    const { events, through } = await this.#inner.changes(this.#storedRange(range), after, size)
    return { events: events.map((event) => this.#seenEvent(event)), through }
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #stored(key: string): string {
    const { seen, stored } = this.#prefixes
    return key.startsWith(seen) ? stored + key.slice(seen.length) : key
  }

  #storedRange({ start, end }: KeyRange): KeyRange {
    return { start: this.#stored(start), end: this.#stored(end) }
  }

  #seenEntry(entry: Entry): Entry {
    return { ...entry, key: this.#seen(entry.key) }
  }

  #seenEvent(event: ChangeEvent): ChangeEvent {
    return { ...event, key: this.#seen(event.key), previous: event.previous && this.#seenEntry(event.previous) }
  }

  #seen(key: string): string {
    const { seen, stored } = this.#prefixes
    return key.startsWith(`${stored}/`) ? seen + key.slice(stored.length) : key
  }
}
