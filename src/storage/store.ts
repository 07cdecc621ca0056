/**
 * The store: a key space with one increasing revision and a subset of etcd's semantics.
 * Drivers (`log/`, `memory/`) depend neither on Kubernetes nor on each other; all of them pass the tests in `suite/`.
 */

/** One key at one revision. */
export interface Entry {
  readonly key: string
  /** Must not be changed: others may have the same buffer. */
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
  /** The revision of the result. */
  readonly revision: number
  /** True if the limit cut off entries. */
  readonly more: boolean
}

/** A put or a delete. Deleting an absent key changes nothing. */
export type Operation = Put | Delete

export interface Put {
  readonly key: string
  readonly value: Buffer
  readonly delete?: undefined
  /**
   * The store deletes the key when this many seconds, a whole number, have passed since its last put, perhaps a little
   * later. Watches see a delete at a revision of its own. A put without it keeps the key.
   */
  readonly ttlSeconds?: number | undefined
}

export interface Delete {
  readonly key: string
  readonly value?: undefined
  readonly delete: true
}

/** All operations are applied if every condition holds, otherwise none. A key may occur in one operation only. */
export interface Transaction {
  /** `revision` is the key's revision as last read; 0 means that the key must be absent. */
  readonly conditions: readonly { readonly key: string; readonly revision: number }[]
  readonly operations: readonly Operation[]
}

/** `revision` is the last one assigned; `current` has the current entries of the conditions' keys, in their order. */
export type CommitResult =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly current: (Entry | undefined)[] }

/** The callbacks of a watch. An observer that throws loses its watch; others are not affected. */
export interface Observer {
  /** `false` if live events need no `previous`, which saves reading it. */
  readonly wantsPrevious?: boolean
  /** Changes in order of revision; the changes of one commit arrive together. The array must not be changed. */
  events(events: readonly ChangeEvent[]): void
  /**
   * Called once, when the watch has received all events up to the store's revision. From then on it receives each
   * commit immediately.
   */
  caughtUp?(): void
  /** The watch has ended: CompactedError, StoreClosedError, or the observer's own error. No further calls follow. */
  end(error: Error): void
}

export interface Watch {
  /**
   * The watch has received all events up to this revision; `after` at first. Increases with every commit, inside the
   * range or not, so it soon reaches each revision that `currentRevision` has returned.
   */
  readonly position: number
  stop(): void
}

/** A portion of history. */
export interface Changes {
  /** Oldest first; the changes of one commit are in the same portion. */
  readonly events: readonly ChangeEvent[]
  /** The portion covers all changes up to this revision. */
  readonly through: number
}

/** Approximate limits of a portion of history. Its last revision is always complete. */
export interface PortionSize {
  readonly events: number
  /** Bytes of values, new and previous ones. */
  readonly bytes: number
}

/**
 * Methods may ask other processes; properties are what this process knows at present, so that reading them costs
 * nothing.
 */
export interface Store {
  /** True if other processes may write to it. */
  readonly isShared: boolean
  /**
   * Returns the revision of the newest committed transaction; 1 for an empty store. Covers every transaction that was
   * committed before the call, by this process or another (a linearizable read). Visible to reads immediately, and to
   * watches as soon as their position reaches it.
   */
  currentRevision(): Promise<number>
  /** Reads before this revision and watches from before it fail. Another process may have compacted more. */
  readonly compactedRevision: number
  /**
   * Bytes of replaced and deleted versions since the store was opened, including their overhead. Only increases; the
   * difference between two revisions is the size of the history between them. Always 0 if unknown.
   */
  readonly historyBytes: number
  /** Size of its files in bytes; undefined if unknown, and for stores without files. */
  readonly sizeBytes?: number | undefined
  /** Why the store cannot write at present, as a sentence with the remedy; undefined if it can. */
  readonly problem: string | undefined
  /** Returns the entry at the newest revision, or at `revision`. Throws CompactedError, FutureRevisionError. */
  get(key: string, revision?: number): Promise<Entry | undefined>
  /** Throws CompactedError, FutureRevisionError. */
  list(options: ListOptions): Promise<ListResult>
  /**
   * Returns the number of entries that `list` would return without a limit. Throws CompactedError, FutureRevisionError.
   */
  count(options: Omit<ListOptions, 'limit'>): Promise<number>
  /**
   * Resolves once the transaction is durable (fsync for drivers on disk) and delivered to the watchers of this process:
   * caches that they maintain show it then.
   */
  commit(transaction: Transaction): Promise<CommitResult>
  /**
   * Delivers every change of the range after revision `after` exactly once and in order: history first, then live. A
   * compacted `after` ends the watch with CompactedError.
   */
  watch(range: KeyRange, after: number, observer: Observer): Watch
  /**
   * Returns a portion of the range's changes after revision `after`, without blocking the event loop. It may be smaller
   * than `size`, even empty, if the search took long. Complete if `through` is the store's revision. Throws
   * CompactedError.
   */
  changes(range: KeyRange, after: number, size?: PortionSize): Promise<Changes>
  /** Removes versions that only reads before `revision` need. */
  compact(revision: number): Promise<void>
  /**
   * Returns true if the value of a key would be stored in another form today, such as encrypted. Absent if there is
   * only one form.
   */
  isStale?(key: string): Promise<boolean>
  /** Waits for running commits, ends watches and releases files. */
  close(): Promise<void>
}

/** The requested revision has been compacted. */
export class CompactedError extends Error {
  readonly compactedRevision: number

  constructor(revision: number, compactedRevision: number) {
    super(`revision ${revision} has been compacted: history starts at ${compactedRevision}`)
    this.name = 'CompactedError'
    this.compactedRevision = compactedRevision
  }
}

/** The requested revision does not exist yet. */
export class FutureRevisionError extends Error {
  constructor(revision: number, current: number) {
    super(`revision ${revision} is in the future: the store is at ${current}`)
    this.name = 'FutureRevisionError'
  }
}

/** A transaction exceeds the maximum size. The message is etcd's. */
export class RequestTooLargeError extends Error {
  constructor() {
    super('etcdserver: request is too large')
    this.name = 'RequestTooLargeError'
  }
}

/** The store was closed before or during the call. */
export class StoreClosedError extends Error {
  constructor() {
    super('the store is closed')
    this.name = 'StoreClosedError'
  }
}

/**
 * The disk rejected a write, or another process has taken over the store. The transaction was not written.
 * `Store.problem` is set while writes fail.
 */
export class StoreFailedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreFailedError'
  }
}

/** The answer to a transaction was lost: it may have been written or not, and may still be. */
export class CommitUnknownError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`${message}: the change may have been written, read it before another try`, options)
    this.name = 'CommitUnknownError'
  }
}

/**
 * The data cannot be used: damaged, in another format, or owned by another process. The message contains the remedy;
 * the files are untouched.
 */
export class StoreOpenError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreOpenError'
  }
}

/** Returns the range of all keys that start with `prefix`, which must end in an ASCII character, usually `/`. */
export const prefixRange = (prefix: string): KeyRange => ({
  start: prefix,
  end: prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1),
})
