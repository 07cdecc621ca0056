/** Observations of clients: responses of reads and lists, and events of watches. Times are in ms of one clock. */
import type { ObjectKey } from './checker/history.ts'
import type { Scope } from './scope.ts'

/** A state of an object as seen in a response. */
export interface Item {
  readonly key: ObjectKey
  readonly revision: number
  readonly count: number
}

interface RequestInfo {
  /** The name of the connection. Reads on one connection never go back. */
  readonly connection: string
  readonly sent: number
  readonly answered: number
}

/**
 * The state that a read requests: the newest; any (`resourceVersion=0`); that of a revision; one not older than a
 * revision. `derived` is the result of a watch's events.
 */
export type Mode = 'newest' | 'any' | 'exact' | 'not older' | 'derived'

/** A list with all its pages. */
export interface ListSeen extends RequestInfo {
  readonly what: 'list'
  readonly scope: Scope
  readonly mode: Mode
  /** The requested revision, if any. */
  readonly wanted: number
  readonly revision: number
  readonly items: readonly Item[]
  readonly pages: readonly { readonly revision: number; readonly items: number; readonly remaining?: number }[]
  /** Description of the request, for messages. */
  readonly label: string
}

/** A GET, or what a rejected write reveals of its object. */
export interface ReadSeen extends RequestInfo {
  readonly what: 'read'
  readonly key: ObjectKey
  readonly mode: 'newest' | 'any'
  /** `present`: the object is known to exist, but not its state. */
  readonly found: Item | 'present' | 'absent'
  readonly label: string
}

export type WatchEvent =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
      readonly key: ObjectKey
      readonly revision: number
      readonly count: number
      readonly at: number
    }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean; readonly at: number }

export interface WatchSeen {
  readonly what: 'watch'
  readonly scope: Scope
  /**
   * The revision after which it began; `any`: the current objects come first; `streamed`: the same, followed by a
   * bookmark.
   */
  readonly from: number | 'any' | 'streamed'
  readonly sent: number
  readonly events: WatchEvent[]
  /** Set when the watch has ended; `expired` is the ERROR event 410. */
  end?: 'ended' | 'cut' | 'expired'
  /** The watch had the time to deliver everything up to this revision. */
  mustReach?: number
  readonly label: string
}

/** A response that a revision is too old. */
export interface ExpiredSeen extends RequestInfo {
  readonly what: 'expired'
  readonly scope: Scope
  readonly wanted: number
  readonly label: string
}

export type Observation = ListSeen | ReadSeen | WatchSeen | ExpiredSeen

/** Applies events to the objects of a cache. */
export function applyEvents(items: Map<number, Item>, events: readonly WatchEvent[]): void {
  for (const event of events) {
    if (event.type === 'BOOKMARK') continue
    if (event.type === 'DELETED') items.delete(event.key.id)
    else items.set(event.key.id, event)
  }
}
