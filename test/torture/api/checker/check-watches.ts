/** Checks watches, after finding where the changes of each begin. */
import {
  applyEvents,
  type Item,
  type ListSeen,
  type Observation,
  type WatchEvent,
  type WatchSeen,
} from '../observation.ts'
import { inScope, type Scope } from '../scope.ts'
import type { Change, Fault, History } from './history.ts'
import { type Beginning, countUpTo, watchFault } from './watch-fault.ts'

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
