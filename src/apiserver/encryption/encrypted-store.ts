/**
 * A store whose values are encrypted where somebody wants that, and as they are to everybody above. What is read from
 * memory costs nothing: only what goes to the store and comes from it passes here.
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

/** How the values of a key are held; undefined where they are as they are. May change while the server runs. */
export type TransformerOf = (key: string) => ValueTransformer | undefined

type Later<T> = T | Promise<T>

export class EncryptedStore implements Store {
  readonly #inner: Store
  readonly #transformerOf: TransformerOf
  /** What was encrypted here just now: its event comes with the same bytes. */
  readonly #written = new WeakMap<Buffer, Buffer>()

  constructor(inner: Store, transformerOf: TransformerOf) {
    this.#inner = inner
    this.#transformerOf = transformerOf
  }

  get revision(): number {
    return this.#inner.revision
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

  /** Whether the value at a key would be held in another form if it were written today. */
  async isStale(key: string): Promise<boolean> {
    const transformer = this.#transformerOf(key)
    const entry = transformer && (await this.#inner.get(key))
    return entry ? (await transformer.decrypt(entry.value, key)).stale : false
  }

  #encrypted(key: string, value: Buffer): Buffer {
    const transformer = this.#transformerOf(key)
    if (!transformer) return value
    const stored = told(() => transformer.encrypt(value, key))
    this.#written.set(stored, value)
    return stored
  }

  #value(stored: Buffer, key: string): Later<Buffer> {
    const transformer = this.#transformerOf(key)
    if (!transformer) return stored
    return (
      this.#written.get(stored) ??
      after(
        told(() => transformer.decrypt(stored, key)),
        ({ value }) => value,
      )
    )
  }

  #decrypted(entry: Entry): Later<Entry> {
    return after(this.#value(entry.value, entry.key), (value) => (value === entry.value ? entry : { ...entry, value }))
  }

  #event(event: ChangeEvent): Later<ChangeEvent> {
    const { key, value, previous } = event
    return after(value && this.#value(value, key), (value) =>
      after(previous && this.#decrypted(previous), (previous) =>
        value === event.value && previous === event.previous ? event : { ...event, value, previous },
      ),
    )
  }
}

/**
 * What goes wrong with a value is told to whoever wants it: it is a fault of the configuration or of a plug-in, not of
 * this server.
 */
function told<T>(transform: () => Promise<T>): Promise<T>
function told<T>(transform: () => T): T
function told<T>(transform: () => Later<T>): Later<T> {
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

/** The values themselves where all are there, else a promise of all. */
function all<T>(values: readonly Later<T>[]): Later<T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[])
}

/**
 * A watch whose events may have to wait for somebody who decrypts them: they come in order all the same, and the
 * position waits with them.
 */
class DecryptedWatch implements Watch {
  readonly #observer: Observer
  readonly #decrypt: (event: ChangeEvent) => Later<ChangeEvent>
  readonly #inner: Watch
  /** What is waited for; each waits for the one before. */
  #waiting: Promise<void> | undefined
  /** Everything up to here has been told while something waits. */
  #told = 0
  #over = false

  constructor(
    store: Store,
    range: KeyRange,
    after: number,
    observer: Observer,
    decrypt: (event: ChangeEvent) => Later<ChangeEvent>,
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
    return this.#waiting ? this.#told : this.#inner.position
  }

  stop(): void {
    this.#over = true
    this.#inner.stop()
  }

  #events(events: readonly ChangeEvent[]): void {
    const decrypted = all(events.map((event) => this.#decrypt(event)))
    if (!this.#waiting && !(decrypted instanceof Promise)) {
      this.#observer.events(decrypted)
      return
    }
    this.#told ||= Math.max(0, events[0]!.revision - 1)
    this.#inOrder(async () => {
      const ready = await decrypted
      if (this.#over) return
      this.#observer.events(ready)
      this.#told = events.at(-1)!.revision
    })
  }

  /** After everything that waits, or at once. */
  #inOrder(step: () => void | Promise<void>): void {
    if (this.#over) return
    const done = this.#waiting ? this.#waiting.then(step) : step()
    if (!done) return
    const mine = done
      .catch((error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
      .then(() => {
        if (this.#waiting !== mine) return
        this.#waiting = undefined
        this.#told = 0
      })
    this.#waiting = mine
  }

  #fail(error: Error): void {
    this.#inner.stop()
    this.#end(error)
  }

  #end(error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#observer.end(error)
  }
}
