/**
 * The store: a key space with one growing revision, with etcd's semantics and no more.
 * Drivers (`log/`, `memory/`) know nothing of Kubernetes and nothing of each other; `suite/` holds for all of them.
 */

/** One key at one revision. */
export interface Entry {
  readonly key: string
  readonly value: Buffer
  /** The revision of the transaction that wrote it. */
  readonly revision: number
}

/** A change of one key. `previous` is the entry that it replaced or deleted. */
export interface ChangeEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  /** The new value; absent for a delete. */
  readonly value?: Buffer
  readonly revision: number
  readonly previous?: Entry
}

/** Keys from `start` (included) to `end` (excluded), in the order of their UTF-8 bytes. */
export interface KeyRange {
  readonly start: string
  readonly end: string
}

export interface ListOptions extends KeyRange {
  /** At most this many entries; 0 or absent means all. */
  readonly limit?: number
  /** The state at this revision; 0 or absent means the newest. */
  readonly revision?: number
}

export interface ListResult {
  readonly entries: Entry[]
  /** The revision that the result shows. */
  readonly revision: number
  /** Whether the limit cut off entries. */
  readonly more: boolean
}

/**
 * A key gets a value, or is deleted, or gets a last value and is deleted right after it: that takes two revisions,
 * which become durable together, and has to be the only operation.
 */
export type Operation =
  | { readonly key: string; readonly value: Buffer; readonly delete?: true }
  | { readonly key: string; readonly value?: undefined; readonly delete: true }

/** All or nothing: the operations are carried out if every condition holds. A key may stand in one operation only. */
export interface Transaction {
  /** `revision` is the key's revision as last read; 0 means that the key must be absent. */
  readonly conditions: readonly { readonly key: string; readonly revision: number }[]
  readonly operations: readonly Operation[]
}

/** `revision` is the last that was given; `current` holds what the conditions' keys really are, in their order. */
export type CommitResult =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly current: (Entry | undefined)[] }

/** What a watch tells. An observer that throws loses its watch; nobody else notices. */
export interface Observer {
  /** `false`: live events need no `previous`, which saves the store reading it. */
  readonly wantsPrevious?: boolean
  /**
   * Changes in order of revision; everything that was committed together arrives together. The array must not be
   * changed.
   */
  events(events: readonly ChangeEvent[]): void
  /**
   * Called once, when the watch has been told of everything up to the store's revision; from then on it is told of each
   * commit at once.
   */
  caughtUp?(): void
  /** The watch has ended: CompactedError, the store was closed, or the observer's own error. Nothing follows. */
  end(error: Error): void
}

export interface Watch {
  /** Everything up to this revision has been told: it grows with every commit, whether that was in the range or not. */
  readonly position: number
  stop(): void
}

/** A portion of history. */
export interface Changes {
  /** Oldest first; everything that was committed together is there together. */
  readonly events: readonly ChangeEvent[]
  /** All changes up to this revision are in the portion or were before it. */
  readonly through: number
}

/** How much a portion of history may hold, roughly: the last revision in it is whole. */
export interface PortionSize {
  readonly events: number
  /** Of values, new and previous ones. */
  readonly bytes: number
}

export interface Store {
  /** The revision of the newest committed transaction; 1 for an empty store. Reads and watches have seen it. */
  readonly revision: number
  /** Everything before this revision is forgotten: reads at older revisions and watches after older ones fail. */
  readonly compactedRevision: number
  /**
   * Bytes of versions that have become history, since the compacted revision of the time when the store was opened:
   * replaced values, deleted ones, and what it costs to keep them. Only grows; what is between two revisions tells how
   * much room the history between them takes.
   */
  readonly historyBytes: number
  /** Bytes of its files; undefined for stores without files of their own. */
  readonly sizeBytes?: number | undefined
  /** Why nothing can be written just now, as a sentence that says what to do; undefined while all is well. */
  readonly problem: string | undefined
  /** The entry at the newest revision, or at `revision`. Throws CompactedError, FutureRevisionError. */
  get(key: string, revision?: number): Promise<Entry | undefined>
  /** Throws CompactedError, FutureRevisionError. */
  list(options: ListOptions): Promise<ListResult>
  /** How many entries `list` would bring without a limit. Throws CompactedError, FutureRevisionError. */
  count(options: Omit<ListOptions, 'limit'>): Promise<number>
  /**
   * Resolves once the transaction is durable (fsync for drivers on disk). Watchers have been told before it resolves.
   */
  commit(transaction: Transaction): Promise<CommitResult>
  /**
   * Every change after revision `after` within the range, in order, none missed, none twice; history first, then live.
   * `after: 0` means from now on. A compacted `after` ends the watch with CompactedError.
   */
  watch(range: KeyRange, after: number, observer: Observer): Watch
  /**
   * The changes of a range after revision `after`: a portion that does not hold up the event loop; fewer than asked
   * for, even none, if it was a long way to find them. Complete when `through` is the store's revision. Throws
   * CompactedError.
   */
  changes(range: KeyRange, after: number, size?: PortionSize): Promise<Changes>
  /** Forgets what only reads before `revision` need. Deleted keys and replaced values older than it go. */
  compact(revision: number): Promise<void>
  /**
   * Whether the value at a key would be held in another form if it were written today; absent where there is only one
   * form.
   */
  isStale?(key: string): Promise<boolean>
  /** Waits for commits under way, ends watches, releases files. */
  close(): Promise<void>
}

/** The revision asked for has been compacted away. */
export class CompactedError extends Error {
  readonly compactedRevision: number

  constructor(revision: number, compactedRevision: number) {
    super(`revision ${revision} has been compacted: history starts at ${compactedRevision}`)
    this.name = 'CompactedError'
    this.compactedRevision = compactedRevision
  }
}

/** The revision asked for is yet to come. */
export class FutureRevisionError extends Error {
  constructor(revision: number, current: number) {
    super(`revision ${revision} is in the future: the store is at ${current}`)
    this.name = 'FutureRevisionError'
  }
}

/** A transaction is larger than what the store takes. The message is etcd's. */
export class RequestTooLargeError extends Error {
  constructor() {
    super('etcdserver: request is too large')
    this.name = 'RequestTooLargeError'
  }
}

/** The store was closed while the call was under way, or before. */
export class StoreClosedError extends Error {
  constructor() {
    super('the store is closed')
    this.name = 'StoreClosedError'
  }
}

/**
 * The disk refused a write, or another process took the store over: what was to be written is not there.
 * `Store.problem` says whether writes go on.
 */
export class StoreFailedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreFailedError'
  }
}

/**
 * The data cannot be used: damaged, foreign, or held by another process. The message says what to do; files are
 * untouched.
 */
export class StoreOpenError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreOpenError'
  }
}

/** The range of all keys that start with `prefix` (which ends in an ASCII character, usually `/`). */
export const prefixRange = (prefix: string): KeyRange => ({
  start: prefix,
  end: prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1),
})
