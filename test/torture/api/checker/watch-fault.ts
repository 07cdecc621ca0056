/**
 * Checks one watch: it must deliver every change in its scope once, in order and with the right type, and bookmarks
 * only for delivered changes.
 */
import type { ListSeen, WatchEvent, WatchSeen } from '../observation.ts'
import { inScope, type Scope, showScope } from '../scope.ts'
import { type Change, type Fault, type History, showKey } from './history.ts'

type ObjectEvent = Exclude<WatchEvent, { readonly type: 'BOOKMARK' }>

export interface Beginning {
  /** Changes after this revision follow. */
  readonly revision: number
  /** The index of the first event that is a change. */
  readonly index: number
  readonly initial?: ListSeen
}

/** Returns the first fault of a watch. */
export const watchFault = (
  watch: WatchSeen,
  changes: readonly Change[],
  begin: Beginning,
  history: History,
): Fault | undefined => new WatchCheck(watch, begin).firstFault(changes, history)

/** Compares the events of a watch, in order, with the changes that it had to deliver. */
class WatchCheck {
  readonly #watch: WatchSeen
  readonly #start: number
  /** The index of the next event. */
  #next: number
  /** The revision of the last event. */
  #reached: number

  constructor(watch: WatchSeen, { revision, index }: Beginning) {
    this.#watch = watch
    this.#start = revision
    this.#next = index
    this.#reached = revision
  }

  firstFault(changes: readonly Change[], history: History): Fault | undefined {
    return this.#faultOfChanges(changes) ?? this.#faultOfRest() ?? this.#faultOfEnd(history)
  }

  /** Checks the events up to the last change that the watch had to deliver. */
  #faultOfChanges(changes: readonly Change[]): Fault | undefined {
    const { scope, events, mustReach = 0 } = this.#watch
    let through = Math.max(this.#start, mustReach)
    for (let i = this.#next; i < events.length; i++) through = Math.max(through, events[i]!.revision)
    const first = countUpTo(changes.length, (i) => changes[i]!.revision, this.#start)
    for (let i = first; i < changes.length && changes[i]!.revision <= through; i++) {
      const change = changes[i]!
      const expected = expectedEvent(change, scope)
      if (!expected) continue
      const fault =
        change.after === undefined ? this.#faultOfChange(expected) : this.#faultOfUnseen(change, change.after)
      if (fault) return fault
    }
    return undefined
  }

  /** Checks a delete that no watch has seen: one that covers all its possible revisions should have. */
  #faultOfUnseen({ key, revision }: Change, after: number): Fault | undefined {
    if (this.#start > after) return undefined
    return this.#fault(
      'a watch delivers every change',
      `${showKey(key)} was deleted after ${after} and by ${revision}, which was not delivered`,
    )
  }

  /** Checks the bookmarks before an expected event, and the event. */
  #faultOfChange(expected: ExpectedEvent): Fault | undefined {
    return this.#faultOfBookmarks(expected) ?? this.#faultOfEvent(expected)
  }

  #faultOfBookmarks(expected: ExpectedEvent): Fault | undefined {
    const { events } = this.#watch
    for (; events[this.#next]?.type === 'BOOKMARK'; this.#next++) {
      const { revision } = events[this.#next]!
      if (revision >= expected.revision)
        return this.#fault(
          'a bookmark is not ahead of events',
          `a bookmark has ${revision}, before ${showEvent(expected)}`,
        )
      if (revision < this.#reached) return this.#faultOfOldBookmark(revision)
      this.#reached = revision
    }
    return undefined
  }

  #faultOfEvent(expected: ExpectedEvent): Fault | undefined {
    const { events, mustReach, end } = this.#watch
    // The bookmarks before it have been checked.
    const event = events[this.#next] as ObjectEvent | undefined
    if (event === undefined) {
      const reach = `it had the time to deliver everything up to ${mustReach}`
      return this.#fault(
        'a watch delivers every change',
        `${showEvent(expected)} never came; ${end ? `it ${end}` : reach}`,
      )
    }
    if (event.revision > expected.revision)
      return this.#fault(
        'a watch delivers every change',
        `${showEvent(expected)} is missing: ${showEvent(event)} came instead`,
      )
    const difference = `${showEvent(event)} came, expected ${showEvent(expected)}`
    if (event.revision < expected.revision) return this.#faultOfUnexpected(event, difference)
    if (event.type !== expected.type || event.key !== expected.key || event.count !== expected.count)
      return this.#fault('a watch delivers the changes', difference)
    this.#reached = event.revision
    this.#next++
    return undefined
  }

  /** Checks the events after the last change: they may only be bookmarks. */
  #faultOfRest(): Fault | undefined {
    const { events } = this.#watch
    for (; this.#next < events.length; this.#next++) {
      const event = events[this.#next]!
      if (event.type !== 'BOOKMARK')
        return this.#faultOfUnexpected(event, `${showEvent(event)} came after ${this.#reached}`)
      if (event.revision < this.#reached) return this.#faultOfOldBookmark(event.revision)
      this.#reached = event.revision
    }
    return undefined
  }

  #faultOfEnd({ compactable }: History): Fault | undefined {
    const { end, from, events } = this.#watch
    if (end !== 'expired' || typeof from !== 'number' || (events.at(-1)?.revision ?? from) < compactable)
      return undefined
    return this.#fault(
      'history that was not compacted is available',
      `it expired; nothing after ${compactable} was compacted`,
    )
  }

  #faultOfUnexpected({ revision }: ObjectEvent, evidence: string): Fault {
    const isRepeated = revision <= this.#reached
    return this.#fault(
      isRepeated ? 'a watch delivers changes once and in order' : 'a watch delivers only changes',
      evidence,
    )
  }

  #faultOfOldBookmark(revision: number): Fault {
    return this.#fault('bookmarks do not go back', `a bookmark has ${revision} after ${this.#reached}`)
  }

  #fault(promise: string, evidence: string): Fault {
    const { label, scope, from, events } = this.#watch
    const place = `${label} of ${showScope(scope)} from ${from}, event ${this.#next + 1} of ${events.length}`
    return { promise, evidence: `${place}: ${evidence}` }
  }
}

type ExpectedEvent = Omit<ObjectEvent, 'at'>

const showEvent = ({ type, key, revision, count }: ExpectedEvent): string =>
  `${type} ${showKey(key)} at ${revision} with count ${count}`

/** Returns the event of a change for a watch of this scope. */
function expectedEvent({ key, put, previous, revision }: Change, scope: Scope): ExpectedEvent | undefined {
  const wasIn = previous !== undefined && inScope(scope, key, previous.shard)
  if (put !== undefined && inScope(scope, key, put.shard))
    return { type: wasIn ? 'MODIFIED' : 'ADDED', key, revision, count: put.count }
  return wasIn ? { type: 'DELETED', key, revision, count: previous.count } : undefined
}

/** Returns the number of `length` increasing values up to `limit`. */
export function countUpTo(length: number, value: (i: number) => number, limit: number): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (value(middle) <= limit) low = middle + 1
    else high = middle
  }
  return low
}
