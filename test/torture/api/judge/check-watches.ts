/**
 * Watches: each tells every change of what it asks for, in order, once, with the right type, and bookmarks only what it
 * has told.
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
  /** The states that watches began with, to be judged like lists. */
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
  /** The index of the first event that is one. */
  readonly index: number
  readonly initial?: ListSeen
}

/** Where the changes of a watch begin; undefined if it ended before that. */
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

/** The state that a client has made of events. */
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
 * Current objects come first and nothing marks their end: it is where as many objects have been told as there were
 * before the next event. Where that is so several times, it is where the rest makes sense.
 */
function anyBeginning(watch: WatchSeen, changes: readonly Change[], history: History): Beginning | undefined {
  const places = possibleEnds(watch.events)
  const sizes = sizesOf(changes, watch.scope)
  const begun = ({ index, told }: PossibleEnd): Beginning => {
    const revision = watch.events[index]!.revision - 1
    return { revision, index, initial: stateOf(watch, told, revision) }
  }
  const fitting = places
    .filter(({ index, told }) => sizes(watch.events[index]!.revision - 1) === told.length)
    .map(begun)
  const right =
    fitting.length < 2
      ? fitting[0]
      : fitting.find((begin) => isTrue(begin.initial!, changes) && !watchFault(watch, changes, begin, history))
  if (right || places.length === 0) return right
  // Cut off before anything happened, there is nothing to hold it against.
  return watch.mustReach === undefined ? undefined : (fitting[0] ?? begun(places[0]!))
}

interface PossibleEnd {
  /** The first event that would be live. */
  readonly index: number
  readonly told: readonly WatchEvent[]
}

/**
 * Where the current objects may end: before it each comes once, as ADDED; after it revisions grow and are above all
 * before.
 */
function possibleEnds(events: readonly WatchEvent[]): PossibleEnd[] {
  let growing = events.length - 1
  while (growing > 0 && events[growing - 1]!.revision <= events[growing]!.revision) growing--
  const ends: PossibleEnd[] = []
  const told: WatchEvent[] = []
  const distinct = new Set<number>()
  let newest = 0
  for (let index = 0; index < events.length; index++) {
    const event = events[index]!
    if (event.type === 'BOOKMARK') continue
    if (index >= growing && event.revision > newest) ends.push({ index, told: told.slice() })
    if (event.type !== 'ADDED' || distinct.has(event.key.id)) break
    distinct.add(event.key.id)
    told.push(event)
    newest = Math.max(newest, event.revision)
  }
  return ends
}

/** Whether a state is that of its revision. */
function isTrue({ scope, revision, items }: ListSeen, changes: readonly Change[]): boolean {
  const state = new Map<number, number>()
  for (const { key, put, revision: at } of changes) {
    if (at > revision) break
    if (put && inScope(scope, key, put.shard)) state.set(key.id, put.count)
    else state.delete(key.id)
  }
  return items.length === state.size && items.every(({ key, count }) => state.get(key.id) === count)
}

/** How many objects of the scope there were at a revision. */
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

/** How many of `length` growing values are not above `limit`. */
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

/** What a change is to a watch of this scope. */
function expectedEvent({ key, put, previous, revision }: Change, scope: Scope): Omit<ObjectEvent, 'at'> | undefined {
  const wasIn = previous !== undefined && inScope(scope, key, previous.shard)
  if (put !== undefined && inScope(scope, key, put.shard))
    return { type: wasIn ? 'MODIFIED' : 'ADDED', key, revision, count: put.count }
  return wasIn ? { type: 'DELETED', key, revision, count: previous.count } : undefined
}

/** The first event that is not what it must be. */
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
  let told = start
  for (
    let i = countUpTo(changes.length, (i) => changes[i]!.revision, start);
    i < changes.length && changes[i]!.revision <= through;
    i++
  ) {
    const change = changes[i]!
    const expected = expectedEvent(change, scope)
    if (!expected) continue
    if (change.after !== undefined) {
      // Nobody saw this delete; who saw all of the time that it must lie in should have.
      if (start <= change.after)
        return fault(
          'a watch tells every change',
          `${showKey(change.key)} was deleted after ${change.after} and by ${change.revision}, which was not told`,
        )
      continue
    }
    for (; events[at]?.type === 'BOOKMARK'; at++) {
      const { revision } = events[at]!
      if (revision >= change.revision)
        return fault('a bookmark is not ahead of events', `a bookmark says ${revision}, before ${showEvent(expected)}`)
      if (revision < told) return fault('bookmarks do not go back', `a bookmark says ${revision} after ${told}`)
      told = revision
    }
    const event = events[at]
    if (event === undefined) {
      const reach = `it was given the time to tell everything up to ${mustReach}`
      return fault(
        'a watch tells every change',
        `${showEvent(expected)} never came; ${watch.end ? `it ${watch.end}` : reach}`,
      )
    }
    const { revision } = event
    if (event.type === 'BOOKMARK') continue
    if (revision > change.revision)
      return fault('a watch tells every change', `${showEvent(expected)} is missing: ${showEvent(event)} came instead`)
    if (revision < change.revision)
      return fault(
        revision <= told ? 'a watch tells changes in order, once' : 'a watch tells only what happened',
        `${showEvent(event)} came, expected ${showEvent(expected)}`,
      )
    if (event.type !== expected.type || event.key !== expected.key || event.count !== expected.count)
      return fault('a watch tells what happened', `${showEvent(event)} came, expected ${showEvent(expected)}`)
    told = revision
    at++
  }
  for (; at < events.length; at++) {
    const event = events[at]!
    if (event.type !== 'BOOKMARK')
      return fault(
        event.revision <= told ? 'a watch tells changes in order, once' : 'a watch tells only what happened',
        `${showEvent(event)} came after ${told}`,
      )
    if (event.revision < told)
      return fault('bookmarks do not go back', `a bookmark says ${event.revision} after ${told}`)
    told = event.revision
  }
  if (
    watch.end === 'expired' &&
    typeof watch.from === 'number' &&
    (events.at(-1)?.revision ?? watch.from) >= history.compactable
  )
    return fault(
      'history that was not compacted is there',
      `it expired; nothing after ${history.compactable} was compacted`,
    )
  return undefined
}
