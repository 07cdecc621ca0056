/**
 * A store that holds values in another form than its users see: encrypted, or in another encoding. Reads from the watch
 * cache cost nothing: only values written to and read from the inner store are transformed.
 */
import { after } from '../../lib/flow/after.ts'
import { internal, StatusError } from '../../machinery/status-error.ts'
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
} from '../../storage/store.ts'
import type { ValueTransformer } from './value-transformer.ts'

/** Returns the transformer of a key; undefined if its values are not encrypted. May change at runtime. */
export type TransformerOf = (key: string) => ValueTransformer | undefined

type MaybePromise<T> = T | Promise<T>

export class TransformedStore implements Store {
  readonly #inner: Store
  readonly #transformerOf: TransformerOf
  /** Values encrypted here: their watch events have the same buffer, so that they need no decryption. */
  readonly #written = new WeakMap<Buffer, Buffer>()

  constructor(inner: Store, transformerOf: TransformerOf) {
    this.#inner = inner
    this.#transformerOf = transformerOf
  }

  get isShared(): boolean {
    return this.#inner.isShared
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
    const entry = await this.#inner.get(key, revision)
    return entry && this.#decrypted(entry)
  }

  async list(options: ListOptions): Promise<ListResult> {
    const result = await this.#inner.list(options)
    return { ...result, entries: await all(result.entries.map((entry) => this.#decrypted(entry))) }
  }

  count(options: Omit<ListOptions, 'limit'>): Promise<number> {
    return this.#inner.count(options)
  }

  async commit({ conditions, operations }: Transaction): Promise<CommitResult> {
    const result = await this.#inner.commit({
      conditions,
      operations: operations.map((operation) =>
        operation.value ? { ...operation, value: this.#encrypted(operation.key, operation.value) } : operation,
      ),
    })
    if (result.committed) return result
    return { committed: false, current: await all(result.current.map((entry) => entry && this.#decrypted(entry))) }
  }

  watch(range: KeyRange, after: number, observer: Observer): Watch {
    return new DecryptedWatch(this.#inner, range, after, observer, (event) => this.#event(event))
  }

  async changes(range: KeyRange, after: number, size?: PortionSize): Promise<Changes> {
    const { events, through } = await this.#inner.changes(range, after, size)
    return { events: await all(events.map((event) => this.#event(event))), through }
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** Returns true if the value of a key would be encrypted differently if it were written now. */
  async isStale(key: string): Promise<boolean> {
    const transformer = this.#transformerOf(key)
    const entry = transformer && (await this.#inner.get(key))
    return entry ? (await transformer.decrypt(entry.value, key)).stale : false
  }

  #encrypted(key: string, value: Buffer): Buffer {
    const transformer = this.#transformerOf(key)
    if (!transformer) return value
    const stored = withInternalErrors(() => transformer.encrypt(value, key))
    if (stored !== value) this.#written.set(stored, value)
    return stored
  }

  #value(stored: Buffer, key: string): MaybePromise<Buffer> {
    const transformer = this.#transformerOf(key)
    if (!transformer) return stored
    return (
      this.#written.get(stored) ??
      after(
        withInternalErrors(() => transformer.decrypt(stored, key)),
        ({ value }) => value,
      )
    )
  }

  #decrypted(entry: Entry): MaybePromise<Entry> {
    return after(this.#value(entry.value, entry.key), (value) => (value === entry.value ? entry : { ...entry, value }))
  }

  #event(event: ChangeEvent): MaybePromise<ChangeEvent> {
    const { key, value, previous } = event
    return after(value && this.#value(value, key), (value) =>
      after(previous && this.#decrypted(previous), (previous) =>
        value === event.value && previous === event.previous ? event : { ...event, value, previous },
      ),
    )
  }
}

/**
 * Converts an error of a transformer to an internal error with its message: the cause is the configuration or a
 * plug-in.
 */
function withInternalErrors<T>(transform: () => Promise<T>): Promise<T>
function withInternalErrors<T>(transform: () => T): T
function withInternalErrors<T>(transform: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const result = transform()
    return result instanceof Promise ? result.catch(fail) : result
  } catch (error) {
    return fail(error)
  }
}

function fail(error: unknown): never {
  throw error instanceof Error && !(error instanceof StatusError) ? internal(error.message) : error
}

/** Returns the values if all are available, else a promise of them. */
function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[])
}

/**
 * A watch whose events may need asynchronous decryption: they are delivered in order, and the position waits for them.
 */
class DecryptedWatch implements Watch {
  readonly #observer: Observer
  readonly #decrypt: (event: ChangeEvent) => MaybePromise<ChangeEvent>
  readonly #inner: Watch
  /** The last pending step; each waits for the one before. */
  #waiting: Promise<void> | undefined
  /** The revision up to which events were delivered while steps are pending. */
  #deliveredRevision = 0
  #ended = false

  constructor(
    store: Store,
    range: KeyRange,
    after: number,
    observer: Observer,
    decrypt: (event: ChangeEvent) => MaybePromise<ChangeEvent>,
  ) {
    this.#observer = observer
    this.#decrypt = decrypt
    this.#inner = store.watch(range, after, {
      wantsPrevious: observer.wantsPrevious,
      events: (events) => this.#events(events),
      caughtUp: () => this.#inOrder(() => observer.caughtUp?.()),
      end: (error) => this.#inOrder(() => this.#end(error)),
    })
  }

  get position(): number {
    return this.#waiting ? this.#deliveredRevision : this.#inner.position
  }

  stop(): void {
    this.#ended = true
    this.#inner.stop()
  }

  #events(events: readonly ChangeEvent[]): void {
    const decrypted = all(events.map((event) => this.#decrypt(event)))
    if (!this.#waiting && !(decrypted instanceof Promise)) {
      this.#observer.events(decrypted)
      return
    }
    this.#deliveredRevision ||= Math.max(0, events[0]!.revision - 1)
    this.#inOrder(async () => {
      const ready = await decrypted
      if (this.#ended) return
      this.#observer.events(ready)
      this.#deliveredRevision = events.at(-1)!.revision
    })
  }

  /** Runs after all pending steps, or immediately. */
  #inOrder(step: () => void | Promise<void>): void {
    if (this.#ended) return
    const done = this.#waiting ? this.#waiting.then(step) : step()
    if (!done) return
    const mine = done
      .catch((error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
      .then(() => {
        if (this.#waiting !== mine) return
        this.#waiting = undefined
        this.#deliveredRevision = 0
      })
    this.#waiting = mine
  }

  #fail(error: Error): void {
    this.#inner.stop()
    this.#end(error)
  }

  #end(error: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#observer.end(error)
  }
}
