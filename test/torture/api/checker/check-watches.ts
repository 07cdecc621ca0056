/**
 * Checks watches: each must deliver every change in its scope once, in order and with the right type, and bookmarks
 * only for delivered changes.
 */
import {
  applyEvents,
  type Item,
  type ListSeen,
  type Observation,
  type WatchEvent,
  type WatchSeen,
} from '../observation.ts'
import { inScope, type Scope, showScope } from '../scope.ts'
import { type Change, type Fault, type History, showKey } from './history.ts'

type ObjectEvent = Exclude<WatchEvent, { readonly type: 'BOOKMARK' }>

export interface WatchFindings {
  readonly faults: Fault[]
  /** The initial states of watches, to be checked like lists. */
  readonly initialStates: ListSeen[]
}

export function checkWatches(
  history: History,
  changes: readonly Change[],
  observations: readonly Observation[],
): WatchFindings {
  const findings: WatchFindings = { faults: [], initialStates: [] }
  const byKind = Map.groupBy(changes, ({ key }) => key.kind)
  for (const watch of observations) {
    if (watch.what !== 'watch') continue
    const own = byKind.get(watch.scope.kind) ?? []
    const begin = beginning(watch, own, history)
    if (begin?.initial) findings.initialStates.push(begin.initial)
    const fault = begin && watchFault(watch, own, begin, history)
    if (fault) findings.faults.push(fault)
  }
  return findings
}

interface Beginning {
  /** Changes after this revision follow. */
  readonly revision: number
  /** The index of the first event that is a change. */
  readonly index: number
  readonly initial?: ListSeen
}

/** Returns the beginning of a watch's changes; undefined if it ended before that. */
function beginning(watch: WatchSeen, changes: readonly Change[], history: History): Beginning | undefined {
  const { from, events } = watch
  if (typeof from === 'number') return { revision: from, index: 0 }
  if (from === 'streamed') {
    const end = events.findIndex((event) => event.type === 'BOOKMARK' && event.initialEventsEnd)
    if (end < 0) return watch.mustReach ? { revision: 0, index: 0 } : undefined
    const { revision } = events[end]!
    return { revision, index: end + 1, initial: stateOf(watch, events.slice(0, end), revision) }
  }
  return anyBeginning(watch, changes, history)
}

/** Returns the state that a client derives from events. */
function stateOf(watch: WatchSeen, events: readonly WatchEvent[], revision: number): ListSeen {
  const items = new Map<number, Item>()
  applyEvents(items, events)
  const { scope, sent, label } = watch
  const at = events.at(-1)?.at ?? sent
  return {
    what: 'list',
    label: `the beginning of ${label}`,
    scope,
    mode: 'derived',
    wanted: 0,
    revision,
    items: [...items.values()],
    pages: [],
    sent,
    answered: at,
    connection: '',
  }
}

/**
 * The current objects come first, without a mark at their end: it is where as many objects have been delivered as
 * existed before the next event. If there are several such places, it is the one where the rest is consistent.
 */
function anyBeginning(watch: WatchSeen, changes: readonly Change[], history: History): Beginning | undefined {
  const places = possibleEnds(watch.events)
  const sizes = sizesOf(changes, watch.scope)
  const begun = ({ index, delivered }: PossibleEnd): Beginning => {
    const revision = watch.events[index]!.revision - 1
    return { revision, index, initial: stateOf(watch, delivered, revision) }
  }
  const fitting = places
    .filter(({ index, delivered }) => sizes(watch.events[index]!.revision - 1) === delivered.length)
    .map(begun)
  const right =
    fitting.length < 2
      ? fitting[0]
      : fitting.find((begin) => isTrue(begin.initial!, changes) && !watchFault(watch, changes, begin, history))
  if (right || places.length === 0) return right
  // If the watch was cut off before any change, there is nothing to compare.
  return watch.mustReach === undefined ? undefined : (fitting[0] ?? begun(places[0]!))
}

interface PossibleEnd {
  /** Index of the first event that would be a live one. */
  readonly index: number
  readonly delivered: readonly WatchEvent[]
}

/**
 * Returns the places where the current objects may end: before it each occurs once, as ADDED; after it revisions
 * increase and are above all earlier ones.
 */
function possibleEnds(events: readonly WatchEvent[]): PossibleEnd[] {
  let growing = events.length - 1
  while (growing > 0 && events[growing - 1]!.revision <= events[growing]!.revision) growing--
  const ends: PossibleEnd[] = []
  const delivered: WatchEvent[] = []
  const distinct = new Set<number>()
  let newest = 0
  for (let index = 0; index < events.length; index++) {
    const event = events[index]!
    if (event.type === 'BOOKMARK') continue
    if (index >= growing && event.revision > newest) ends.push({ index, delivered: delivered.slice() })
    if (event.type !== 'ADDED' || distinct.has(event.key.id)) break
    distinct.add(event.key.id)
    delivered.push(event)
    newest = Math.max(newest, event.revision)
  }
  return ends
}

/** Returns true if a state is that of its revision. */
function isTrue({ scope, revision, items }: ListSeen, changes: readonly Change[]): boolean {
  const state = new Map<number, number>()
  for (const { key, put, revision: at } of changes) {
    if (at > revision) break
    if (put && inScope(scope, key, put.shard)) state.set(key.id, put.count)
    else state.delete(key.id)
  }
  return items.length === state.size && items.every(({ key, count }) => state.get(key.id) === count)
}

/** Returns the number of objects in the scope at a revision. */
function sizesOf(changes: readonly Change[], scope: Scope): (revision: number) => number {
  const revisions: number[] = []
  const sizes: number[] = []
  let size = 0
  for (const { key, put, previous, revision } of changes) {
    const step =
      Number(put !== undefined && inScope(scope, key, put.shard)) -
      Number(previous !== undefined && inScope(scope, key, previous.shard))
    if (step === 0) continue
    size += step
    revisions.push(revision)
    sizes.push(size)
  }
  return (revision) => sizes[countUpTo(revisions.length, (i) => revisions[i]!, revision) - 1] ?? 0
}

/** Returns the number of `length` increasing values up to `limit`. */
function countUpTo(length: number, value: (i: number) => number, limit: number): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (value(middle) <= limit) low = middle + 1
    else high = middle
  }
  return low
}

const show = ({ label, scope, from }: WatchSeen): string => `${label} of ${showScope(scope)} from ${from}`

const showEvent = ({ type, key, revision, count }: Pick<ObjectEvent, 'type' | 'key' | 'revision' | 'count'>): string =>
  `${type} ${showKey(key)} at ${revision} with count ${count}`

/** Returns the event of a change for a watch of this scope. */
function expectedEvent({ key, put, previous, revision }: Change, scope: Scope): Omit<ObjectEvent, 'at'> | undefined {
  const wasIn = previous !== undefined && inScope(scope, key, previous.shard)
  if (put !== undefined && inScope(scope, key, put.shard))
    return { type: wasIn ? 'MODIFIED' : 'ADDED', key, revision, count: put.count }
  return wasIn ? { type: 'DELETED', key, revision, count: previous.count } : undefined
}

/** Returns the first fault of a watch. */
function watchFault(
  watch: WatchSeen,
  changes: readonly Change[],
  { revision: start, index }: Beginning,
  history: History,
): Fault | undefined {
  const { scope, events, mustReach = 0 } = watch
  const fault = (promise: string, evidence: string): Fault => ({
    promise,
    evidence: `${show(watch)}, event ${at + 1} of ${events.length}: ${evidence}`,
  })
  let through = Math.max(start, mustReach)
  for (let i = index; i < events.length; i++) through = Math.max(through, events[i]!.revision)
  let at = index
  let reached = start
  for (
    let i = countUpTo(changes.length, (i) => changes[i]!.revision, start);
    i < changes.length && changes[i]!.revision <= through;
    i++
  ) {
    const change = changes[i]!
    const expected = expectedEvent(change, scope)
    if (!expected) continue
    if (change.after !== undefined) {
      // No watch has seen this delete; one that covers all possible revisions of it should have.
      if (start <= change.after)
        return fault(
          'a watch delivers every change',
          `${showKey(change.key)} was deleted after ${change.after} and by ${change.revision}, which was not delivered`,
        )
      continue
    }
    for (; events[at]?.type === 'BOOKMARK'; at++) {
      const { revision } = events[at]!
      if (revision >= change.revision)
        return fault('a bookmark is not ahead of events', `a bookmark has ${revision}, before ${showEvent(expected)}`)
      if (revision < reached) return fault('bookmarks do not go back', `a bookmark has ${revision} after ${reached}`)
      reached = revision
    }
    const event = events[at]
    if (event === undefined) {
      const reach = `it had the time to deliver everything up to ${mustReach}`
      return fault(
        'a watch delivers every change',
        `${showEvent(expected)} never came; ${watch.end ? `it ${watch.end}` : reach}`,
      )
    }
    const { revision } = event
    if (event.type === 'BOOKMARK') continue
    if (revision > change.revision)
      return fault(
        'a watch delivers every change',
        `${showEvent(expected)} is missing: ${showEvent(event)} came instead`,
      )
    if (revision < change.revision)
      return fault(
        revision <= reached ? 'a watch delivers changes once and in order' : 'a watch delivers only changes',
        `${showEvent(event)} came, expected ${showEvent(expected)}`,
      )
    if (event.type !== expected.type || event.key !== expected.key || event.count !== expected.count)
      return fault('a watch delivers the changes', `${showEvent(event)} came, expected ${showEvent(expected)}`)
    reached = revision
    at++
  }
  for (; at < events.length; at++) {
    const event = events[at]!
    if (event.type !== 'BOOKMARK')
      return fault(
        event.revision <= reached ? 'a watch delivers changes once and in order' : 'a watch delivers only changes',
        `${showEvent(event)} came after ${reached}`,
      )
    if (event.revision < reached)
      return fault('bookmarks do not go back', `a bookmark has ${event.revision} after ${reached}`)
    reached = event.revision
  }
  if (
    watch.end === 'expired' &&
    typeof watch.from === 'number' &&
    (events.at(-1)?.revision ?? watch.from) >= history.compactable
  )
    return fault(
      'history that was not compacted is available',
      `it expired; nothing after ${history.compactable} was compacted`,
    )
  return undefined
}
