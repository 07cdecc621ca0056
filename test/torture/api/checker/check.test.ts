/**
 * Tests of the checker with constructed histories: correct ones without faults, and ones with a fault that it must
 * find.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Item, ListSeen, Observation, ReadSeen, WatchEvent, WatchSeen } from '../observation.ts'
import type { Scope } from '../scope.ts'
import { check } from './check.ts'
import { type Action, History, type ObjectKey, type Write } from './history.ts'

/** A history in steps: each write is sent and answered at the time of its revision. */
class Scenario {
  readonly history = new History()
  readonly #observations: Observation[] = []

  key(name: string, namespace = 'north'): ObjectKey {
    return this.history.key('configmaps', namespace, name)
  }

  put(
    name: string,
    action: Action,
    revision: number,
    { shard = 0, outcome = 'acknowledged' as Write['outcome'], namespace = 'north' } = {},
  ): Write {
    const write = this.history.begin(this.key(name, namespace), action, shard, revision)
    write.outcome = outcome
    if (outcome === 'acknowledged') {
      write.answered = revision + 0.5
      write.revision = revision
    }
    return write
  }

  /** Deletes an object. The response has no revision. */
  remove(base: Write, at: number, outcome: Write['outcome'] = 'acknowledged'): Write {
    const write = this.history.begin(base.key, 'delete', 0, at, base.revision)
    write.outcome = outcome
    if (outcome === 'acknowledged') write.answered = at + 0.5
    return write
  }

  list(revision: number, items: readonly Item[], rest: Partial<ListSeen> = {}): void {
    const scope: Scope = { kind: 'configmaps' }
    const seen: ListSeen = {
      what: 'list',
      scope,
      mode: 'newest',
      wanted: 0,
      revision,
      items,
      pages: [],
      connection: 'c',
      sent: revision + 0.6,
      answered: revision + 0.7,
      label: 'a list',
    }
    this.#observations.push({ ...seen, ...rest })
  }

  read(key: ObjectKey, found: ReadSeen['found'], at: number, rest: Partial<ReadSeen> = {}): void {
    this.#observations.push({
      what: 'read',
      key,
      mode: 'newest',
      found,
      connection: 'c',
      sent: at,
      answered: at + 0.1,
      label: 'a get',
      ...rest,
    })
  }

  watch(from: WatchSeen['from'], events: readonly WatchEvent[], rest: Partial<WatchSeen> = {}): void {
    this.#observations.push({
      what: 'watch',
      scope: { kind: 'configmaps' },
      from,
      sent: 0,
      events: [...events],
      label: 'a watch',
      ...rest,
    })
  }

  expired(wanted: number): void {
    this.#observations.push({
      what: 'expired',
      scope: { kind: 'configmaps' },
      wanted,
      sent: 0,
      answered: 1,
      connection: 'c',
      label: 'a list',
    })
  }

  /** Returns the broken promises. */
  broken(): string[] {
    return check(this.history, this.#observations).map(({ promise }) => promise)
  }
}

const item = ({ key, revision, count }: Write): Item => ({ key, revision, count })
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', { key, count, revision }: Write, at = revision): WatchEvent => ({
  type,
  key,
  count,
  revision: at,
  at,
})
const bookmark = (revision: number, initialEventsEnd = false): WatchEvent => ({
  type: 'BOOKMARK',
  revision,
  initialEventsEnd,
  at: revision,
})

/** a is created at 10 and changed at 12 to shard 1, b is created at 11 and deleted at 13, c is created at 14. */
function scenario(): { story: Scenario; a: Write; a2: Write; b: Write; c: Write; gone: Write } {
  const story = new Scenario()
  const a = story.put('a', 'create', 10)
  const b = story.put('b', 'create', 11)
  const a2 = story.put('a', 'update', 12, { shard: 1 })
  const gone = story.remove(b, 13)
  const c = story.put('c', 'create', 14)
  return { story, a, a2, b, c, gone }
}

const exactly = 'a list shows exactly what was written up to its revision'
const deliversAll = 'a watch delivers every change'
const inOrder = 'a watch delivers changes once and in order'
const sees = 'a read sees earlier acknowledged writes'
const truth = ({ a, a2, b, c }: ReturnType<typeof scenario>): WatchEvent[] => [
  event('ADDED', a),
  event('ADDED', b),
  event('MODIFIED', a2),
  event('DELETED', b, 13),
  event('ADDED', c),
]

test('a correct history has no faults', () => {
  const facts = scenario()
  const { story, a, a2, b, c } = facts
  story.watch(9, [...truth(facts), bookmark(14)], { mustReach: 14 })
  story.watch(11, truth(facts).slice(2))
  story.watch(
    9,
    [event('ADDED', a), event('ADDED', b), event('DELETED', a, 12), event('DELETED', b, 13), event('ADDED', c)],
    {
      scope: { kind: 'configmaps', shard: 0 },
      mustReach: 14,
    },
  )
  story.watch(9, [event('ADDED', a2)], { scope: { kind: 'configmaps', shard: 1 }, mustReach: 14 })
  story.watch(
    'streamed',
    [event('ADDED', b), event('ADDED', a2), bookmark(12, true), event('DELETED', b, 13), event('ADDED', c)],
    { mustReach: 14 },
  )
  story.watch('any', [event('ADDED', a2), event('ADDED', b), event('DELETED', b, 13), event('ADDED', c)], {
    mustReach: 14,
  })
  story.list(10, [item(a)])
  story.list(11, [item(a), item(b)])
  story.list(12, [item(a2), item(b)])
  story.list(14, [item(a2), item(c)], {
    pages: [
      { revision: 14, items: 1, remaining: 1 },
      { revision: 14, items: 1 },
    ],
  })
  story.list(11, [item(a), item(b)], { mode: 'exact', wanted: 11, sent: 20, answered: 21 })
  story.list(13, [item(a2)], { mode: 'any', sent: 20, answered: 21, connection: 'other' })
  story.read(a.key, item(a), 10.6)
  story.read(b.key, 'absent', 13.6)
  story.read(story.key('nobody'), 'absent', 14)
  assert.deepEqual(story.broken(), [])
})

test('a list without an acknowledged create is a fault', () => {
  const { story, a2 } = scenario()
  story.list(14, [item(a2)])
  assert.deepEqual(story.broken(), [exactly])
})

test('a list with a write after its revision is a fault', () => {
  const { story, a2, b } = scenario()
  story.list(11, [item(a2), item(b)], { sent: 20, answered: 21, mode: 'exact', wanted: 11 })
  assert.deepEqual(story.broken(), [exactly])
})

test('a list with an old state, a duplicate, a deleted object or one out of scope is a fault', () => {
  const wrong: ((facts: ReturnType<typeof scenario>) => Item[])[] = [
    ({ a, c }) => [item(a), item(c)],
    ({ a2, c }) => [item(a2), item(c), item(c)],
    ({ a2, b, c }) => [item(a2), item(b), item(c)],
  ]
  for (const items of wrong) {
    const facts = scenario()
    facts.story.watch(9, truth(facts))
    facts.story.list(14, items(facts))
    assert.deepEqual(facts.story.broken(), [exactly])
  }
  const { story, a2, c } = scenario()
  story.list(14, [item(a2), item(c)], { scope: { kind: 'configmaps', shard: 0 } })
  assert.deepEqual(story.broken(), [exactly])
})

test('a list that misses writes acknowledged before its request is a fault', () => {
  const { story, a, b } = scenario()
  story.list(11, [item(a), item(b)], { sent: 20, answered: 21 })
  assert.deepEqual(story.broken(), [sees])
})

test('a list of another revision than requested is a fault', () => {
  const { story, a, b } = scenario()
  story.list(11, [item(a), item(b)], { mode: 'not older', wanted: 12, sent: 20, answered: 21 })
  story.list(11, [item(a), item(b)], { mode: 'exact', wanted: 12, sent: 20, answered: 21 })
  assert.deepEqual(story.broken(), ['a list is not older than requested', 'a list shows the requested revision'])
})

test('reads that go back on one connection are a fault', () => {
  const { story, a, a2, b } = scenario()
  story.list(12, [item(a2), item(b)], { mode: 'any', sent: 20, answered: 21 })
  story.list(10, [item(a)], { mode: 'any', sent: 22, answered: 23 })
  assert.deepEqual(story.broken(), ['reads on one connection do not go back'])
})

test('pages of different revisions and a wrong remaining count are faults', () => {
  const { story, a2, c } = scenario()
  story.list(14, [item(a2), item(c)], {
    pages: [
      { revision: 14, items: 1, remaining: 7 },
      { revision: 15, items: 1 },
    ],
  })
  assert.deepEqual(story.broken(), ['all pages of a list show one revision', 'pages report the remaining objects'])
})

test('reads of an old state, or of a missing object that exists, are faults', () => {
  const { story, a, a2 } = scenario()
  story.read(a.key, item(a), 12.6)
  story.read(a2.key, 'absent', 12.6)
  story.read(story.key('unknown'), 'present', 12.6)
  assert.deepEqual(story.broken(), [sees, sees, sees])
})

test('a missing event of a watch is a fault at any position', () => {
  for (let i = 0; i < 5; i++) {
    const facts = scenario()
    facts.story.watch(9, truth(facts))
    facts.story.watch(9, truth(facts).toSpliced(i, 1), { mustReach: 14 })
    assert.deepEqual(facts.story.broken(), [deliversAll], `event ${i}`)
  }
})

test('a delete that no watch delivers is a fault', () => {
  const facts = scenario()
  facts.story.watch(9, truth(facts).toSpliced(3, 1))
  assert.deepEqual(facts.story.broken(), [deliversAll])
})

test('duplicate events and events out of order are faults', () => {
  const twice = scenario()
  twice.story.watch(9, truth(twice).toSpliced(2, 0, truth(twice)[1]!))
  assert.deepEqual(twice.story.broken(), [inOrder])
  const swapped = scenario()
  swapped.story.watch(9, [truth(swapped)[1]!, truth(swapped)[0]!, ...truth(swapped).slice(2)])
  assert.deepEqual(swapped.story.broken(), [deliversAll])
})

test('events of the wrong type or with another state are faults', () => {
  const type = scenario()
  type.story.watch(9, truth(type).with(2, event('ADDED', type.a2)))
  assert.deepEqual(type.story.broken(), ['a watch delivers the changes'])
  const left = scenario()
  left.story.watch(9, truth(left))
  left.story.watch(9, [event('ADDED', left.a), event('ADDED', left.b), event('MODIFIED', left.a2)], {
    scope: { kind: 'configmaps', shard: 0 },
  })
  assert.deepEqual(left.story.broken(), ['a watch delivers the changes'])
})

test('a bookmark ahead of events or one that goes back is a fault', () => {
  const ahead = scenario()
  ahead.story.watch(9, truth(ahead).toSpliced(3, 0, bookmark(13)))
  assert.deepEqual(ahead.story.broken(), ['a bookmark is not ahead of events'])
  const back = scenario()
  back.story.watch(9, [...truth(back), bookmark(13)])
  assert.deepEqual(back.story.broken(), ['bookmarks do not go back'])
})

test('an event out of the scope of a watch is a fault', () => {
  const facts = scenario()
  facts.story.watch(9, truth(facts))
  facts.story.watch(13, [event('ADDED', facts.c)], { scope: { kind: 'configmaps', namespace: 'south' } })
  assert.deepEqual(facts.story.broken(), ['a watch delivers only changes'])
})

test('a wrong initial state of a streaming list or of a watch from any revision is a fault', () => {
  const { story, a, b, c } = scenario()
  story.watch('streamed', [event('ADDED', b), bookmark(12, true)])
  story.watch('any', [event('ADDED', b), event('ADDED', a), event('DELETED', b, 13), event('ADDED', c)], {
    mustReach: 14,
  })
  assert.deepEqual(story.broken(), [exactly, exactly])
})

test('a lost acknowledged write is a fault: the object can be created again', () => {
  const story = new Scenario()
  story.put('a', 'create', 10)
  story.put('a', 'create', 12)
  assert.deepEqual(story.broken(), ['nothing acknowledged is lost'])
})

test('a revision of two different writes is a fault', () => {
  const story = new Scenario()
  const lost = story.put('a', 'create', 10, { outcome: 'unknown' })
  story.watch(9, [{ ...event('ADDED', lost), revision: 10 }])
  const other = story.put('b', 'create', 10)
  story.list(10, [item(other)])
  assert.ok(story.broken().includes('a revision is of one write only'))
})

test('a write without a response may have happened, but once seen it must stay', () => {
  const unseen = scenario()
  unseen.story.put('d', 'create', 15, { outcome: 'unknown' })
  unseen.story.list(15, [item(unseen.a2), item(unseen.c)])
  assert.deepEqual(unseen.story.broken(), [])

  const seen = scenario()
  const d = seen.story.put('d', 'create', 15, { outcome: 'unknown' })
  seen.story.watch(14, [{ ...event('ADDED', d), revision: 15 }])
  seen.story.list(16, [item(seen.a2), item(seen.c)])
  assert.deepEqual(seen.story.broken(), [exactly])
})

test('a delete without a response may have happened, but then the object must not reappear', () => {
  const { story, a2, c } = scenario()
  story.remove(c, 15, 'unknown')
  story.list(15, [item(a2), item(c)])
  story.list(16, [item(a2)])
  assert.deepEqual(story.broken(), [])
  story.list(17, [item(a2), item(c)])
  assert.deepEqual(story.broken(), [exactly])
})

test('a rejected write that took effect is a fault', () => {
  const { story, a2, c } = scenario()
  const refused = story.put('d', 'create', 15, { outcome: 'refused' })
  story.list(15, [item(a2), item(c), { ...item(refused), revision: 15 }])
  assert.ok(story.broken().includes('a rejected write has no effect'))
})

test('410 for a revision that was not compacted is a fault', () => {
  const { story } = scenario()
  story.history.compactable = 12
  story.expired(11)
  assert.deepEqual(story.broken(), [])
  story.expired(12)
  story.watch(13, [], { end: 'expired' })
  const promise = 'history that was not compacted is available'
  assert.deepEqual(story.broken(), [promise, promise])
})

test('an object that was never written is an error', () => {
  const { story, a } = scenario()
  assert.throws(() => story.history.item(a.key, 10, { count: 99, shard: 0 }), /never written/)
  assert.throws(() => story.history.item(a.key, 10, { count: a.count, shard: 3 }), /was written with 0/)
  assert.throws(() => story.history.item(story.key('b'), 10, { count: a.count, shard: 0 }), /never written/)
})
