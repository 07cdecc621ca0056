/** What clients saw: answers of reads and lists, and streams of watches. Times are milliseconds of one clock. */
import type { ObjectKey } from './judge/history.ts'
import type { Scope } from './scope.ts'

/** One state of one object, as an answer showed it. */
export interface Item {
  readonly key: ObjectKey
  readonly revision: number
  readonly count: number
}

interface Asked {
  /** Reads on one connection never go back in time. */
  readonly connection: string
  readonly sent: number
  readonly answered: number
}

/**
 * Which state a read asks for: the newest; any (`resourceVersion=0`); that of a revision; one not older than that.
 * `derived` is what a client made of a watch's events.
 */
export type Mode = 'newest' | 'any' | 'exact' | 'not older' | 'derived'

/** A list, of all its pages together. */
export interface ListSeen extends Asked {
  readonly what: 'list'
  readonly scope: Scope
  readonly mode: Mode
  /** The revision that was asked for, where one was. */
  readonly wanted: number
  readonly revision: number
  readonly items: readonly Item[]
  readonly pages: readonly { readonly revision: number; readonly items: number; readonly remaining?: number }[]
  /** How the client came by it, for messages. */
  readonly label: string
}

/** A GET, or what a refused write says of its object. */
export interface ReadSeen extends Asked {
  readonly what: 'read'
  readonly key: ObjectKey
  readonly mode: 'newest' | 'any'
  /** `present`: somebody was told that the object exists, not what it is. */
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
   * The revision that it began after; `any`: the current objects come first; `streamed`: they do, and a bookmark ends
   * them.
   */
  readonly from: number | 'any' | 'streamed'
  readonly sent: number
  readonly events: WatchEvent[]
  /** Set once it is over: `expired` is the ERROR event 410. */
  end?: 'ended' | 'cut' | 'expired'
  /** It was given the time to tell everything up to this revision. */
  mustReach?: number
  readonly label: string
}

/** An answer that says that a revision is too old. */
export interface ExpiredSeen extends Asked {
  readonly what: 'expired'
  readonly scope: Scope
  readonly wanted: number
  readonly label: string
}

export type Observation = ListSeen | ReadSeen | WatchSeen | ExpiredSeen

/** Does to the objects of a cache what events say. */
export function applyEvents(items: Map<number, Item>, events: readonly WatchEvent[]): void {
  for (const event of events) {
    if (event.type === 'BOOKMARK') continue
    if (event.type === 'DELETED') items.delete(event.key.id)
    else items.set(event.key.id, event)
  }
}
