/** The judge is judged: hand-made histories, good ones that it must let pass and bad ones whose fault it must find. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Item, ListSeen, Observation, ReadSeen, WatchEvent, WatchSeen } from '../observation.ts'
import type { Scope } from '../scope.ts'
import { check } from './check.ts'
import { type Action, History, type ObjectKey, type Write } from './history.ts'

/** A story told in steps: each write is sent and answered at the time of its revision. */
class Story {
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

  /** A delete, whose answer tells no revision. */
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

  /** The promises that were broken. */
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

/** a is made at 10 and changed at 12 into shard 1, b is made at 11 and deleted at 13, c is made at 14. */
function tale(): { story: Story; a: Write; a2: Write; b: Write; c: Write; gone: Write } {
  const story = new Story()
  const a = story.put('a', 'create', 10)
  const b = story.put('b', 'create', 11)
  const a2 = story.put('a', 'update', 12, { shard: 1 })
  const gone = story.remove(b, 13)
  const c = story.put('c', 'create', 14)
  return { story, a, a2, b, c, gone }
}

const exactly = 'a list shows exactly what was written up to its revision'
const tellsAll = 'a watch tells every change'
const inOrder = 'a watch tells changes in order, once'
const sees = 'a read sees what was acknowledged before it'
const truth = ({ a, a2, b, c }: ReturnType<typeof tale>): WatchEvent[] => [
  event('ADDED', a),
  event('ADDED', b),
  event('MODIFIED', a2),
  event('DELETED', b, 13),
  event('ADDED', c),
]

test('a true history has no faults', () => {
  const told = tale()
  const { story, a, a2, b, c } = told
  story.watch(9, [...truth(told), bookmark(14)], { mustReach: 14 })
  story.watch(11, truth(told).slice(2))
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

test('a list that lacks an acknowledged create is found', () => {
  const { story, a2 } = tale()
  story.list(14, [item(a2)])
  assert.deepEqual(story.broken(), [exactly])
})

test('a list that shows what was written after its revision is found', () => {
  const { story, a2, b } = tale()
  story.list(11, [item(a2), item(b)], { sent: 20, answered: 21, mode: 'exact', wanted: 11 })
  assert.deepEqual(story.broken(), [exactly])
})

test('a list that shows an old state, an object twice, a deleted one, or one that was not asked for is found', () => {
  const wrong: ((told: ReturnType<typeof tale>) => Item[])[] = [
    ({ a, c }) => [item(a), item(c)],
    ({ a2, c }) => [item(a2), item(c), item(c)],
    ({ a2, b, c }) => [item(a2), item(b), item(c)],
  ]
  for (const items of wrong) {
    const told = tale()
    told.story.watch(9, truth(told))
    told.story.list(14, items(told))
    assert.deepEqual(told.story.broken(), [exactly])
  }
  const { story, a2, c } = tale()
  story.list(14, [item(a2), item(c)], { scope: { kind: 'configmaps', shard: 0 } })
  assert.deepEqual(story.broken(), [exactly])
})

test('a list that shows less than what was acknowledged before it was asked is found', () => {
  const { story, a, b } = tale()
  story.list(11, [item(a), item(b)], { sent: 20, answered: 21 })
  assert.deepEqual(story.broken(), [sees])
})

test('a list that does not keep to the revision asked for is found', () => {
  const { story, a, b } = tale()
  story.list(11, [item(a), item(b)], { mode: 'not older', wanted: 12, sent: 20, answered: 21 })
  story.list(11, [item(a), item(b)], { mode: 'exact', wanted: 12, sent: 20, answered: 21 })
  assert.deepEqual(story.broken(), [
    'a list shows no older revision than asked for',
    'a list shows the revision asked for',
  ])
})

test('reads that go back in time on one connection are found', () => {
  const { story, a, a2, b } = tale()
  story.list(12, [item(a2), item(b)], { mode: 'any', sent: 20, answered: 21 })
  story.list(10, [item(a)], { mode: 'any', sent: 22, answered: 23 })
  assert.deepEqual(story.broken(), ['reads on one connection do not go back in time'])
})

test('pages of different revisions are found, and a wrong count of the rest', () => {
  const { story, a2, c } = tale()
  story.list(14, [item(a2), item(c)], {
    pages: [
      { revision: 14, items: 1, remaining: 7 },
      { revision: 15, items: 1 },
    ],
  })
  assert.deepEqual(story.broken(), ['all pages of a list show one revision', 'pages say how many objects remain'])
})

test('reads of an old state, and of nothing where something is, are found', () => {
  const { story, a, a2 } = tale()
  story.read(a.key, item(a), 12.6)
  story.read(a2.key, 'absent', 12.6)
  story.read(story.key('nobody'), 'present', 12.6)
  assert.deepEqual(story.broken(), [sees, sees, sees])
})

test('an event that a watch leaves out is found, wherever it is', () => {
  for (let i = 0; i < 5; i++) {
    const told = tale()
    told.story.watch(9, truth(told))
    told.story.watch(9, truth(told).toSpliced(i, 1), { mustReach: 14 })
    assert.deepEqual(told.story.broken(), [tellsAll], `event ${i}`)
  }
})

test('a delete that no watch tells is found', () => {
  const told = tale()
  told.story.watch(9, truth(told).toSpliced(3, 1))
  assert.deepEqual(told.story.broken(), [tellsAll])
})

test('events that come twice or out of order are found', () => {
  const twice = tale()
  twice.story.watch(9, truth(twice).toSpliced(2, 0, truth(twice)[1]!))
  assert.deepEqual(twice.story.broken(), [inOrder])
  const swapped = tale()
  swapped.story.watch(9, [truth(swapped)[1]!, truth(swapped)[0]!, ...truth(swapped).slice(2)])
  assert.deepEqual(swapped.story.broken(), [tellsAll])
})

test('events of the wrong type, or with another state, are found', () => {
  const type = tale()
  type.story.watch(9, truth(type).with(2, event('ADDED', type.a2)))
  assert.deepEqual(type.story.broken(), ['a watch tells what happened'])
  const left = tale()
  left.story.watch(9, truth(left))
  left.story.watch(9, [event('ADDED', left.a), event('ADDED', left.b), event('MODIFIED', left.a2)], {
    scope: { kind: 'configmaps', shard: 0 },
  })
  assert.deepEqual(left.story.broken(), ['a watch tells what happened'])
})

test('a bookmark ahead of events is found, and one that goes back', () => {
  const ahead = tale()
  ahead.story.watch(9, truth(ahead).toSpliced(3, 0, bookmark(13)))
  assert.deepEqual(ahead.story.broken(), ['a bookmark is not ahead of events'])
  const back = tale()
  back.story.watch(9, [...truth(back), bookmark(13)])
  assert.deepEqual(back.story.broken(), ['bookmarks do not go back'])
})

test('a watch that tells what is not asked for is found', () => {
  const told = tale()
  told.story.watch(9, truth(told))
  told.story.watch(13, [event('ADDED', told.c)], { scope: { kind: 'configmaps', namespace: 'south' } })
  assert.deepEqual(told.story.broken(), ['a watch tells only what happened'])
})

test('a wrong beginning of a streaming list or of a watch from any revision is found', () => {
  const { story, a, b, c } = tale()
  story.watch('streamed', [event('ADDED', b), bookmark(12, true)])
  story.watch('any', [event('ADDED', b), event('ADDED', a), event('DELETED', b, 13), event('ADDED', c)], {
    mustReach: 14,
  })
  assert.deepEqual(story.broken(), [exactly, exactly])
})

test('an acknowledged write that is lost is found: the object can be made again', () => {
  const story = new Story()
  story.put('a', 'create', 10)
  story.put('a', 'create', 12)
  assert.deepEqual(story.broken(), ['nothing acknowledged is lost'])
})

test('a revision that comes twice with different contents is found', () => {
  const story = new Story()
  const lost = story.put('a', 'create', 10, { outcome: 'unknown' })
  story.watch(9, [{ ...event('ADDED', lost), revision: 10 }])
  const kept = story.put('b', 'create', 10)
  story.list(10, [item(kept)])
  assert.ok(story.broken().includes('a revision is of one write only'))
})

test('a write without an answer may or may not have happened, but once seen it stays', () => {
  const unseen = tale()
  unseen.story.put('d', 'create', 15, { outcome: 'unknown' })
  unseen.story.list(15, [item(unseen.a2), item(unseen.c)])
  assert.deepEqual(unseen.story.broken(), [])

  const seen = tale()
  const d = seen.story.put('d', 'create', 15, { outcome: 'unknown' })
  seen.story.watch(14, [{ ...event('ADDED', d), revision: 15 }])
  seen.story.list(16, [item(seen.a2), item(seen.c)])
  assert.deepEqual(seen.story.broken(), [exactly])
})

test('a delete without an answer may or may not have happened, but the object does not come back', () => {
  const { story, a2, c } = tale()
  story.remove(c, 15, 'unknown')
  story.list(15, [item(a2), item(c)])
  story.list(16, [item(a2)])
  assert.deepEqual(story.broken(), [])
  story.list(17, [item(a2), item(c)])
  assert.deepEqual(story.broken(), [exactly])
})

test('a refused write that is there is found', () => {
  const { story, a2, c } = tale()
  const refused = story.put('d', 'create', 15, { outcome: 'refused' })
  story.list(15, [item(a2), item(c), { ...item(refused), revision: 15 }])
  assert.ok(story.broken().includes('a refused write does nothing'))
})

test('410 is for revisions that may have been compacted only', () => {
  const { story } = tale()
  story.history.compactable = 12
  story.expired(11)
  assert.deepEqual(story.broken(), [])
  story.expired(12)
  story.watch(13, [], { end: 'expired' })
  const promise = 'history that was not compacted is there'
  assert.deepEqual(story.broken(), [promise, promise])
})

test('what was never written cannot be shown', () => {
  const { story, a } = tale()
  assert.throws(() => story.history.item(a.key, 10, { count: 99, shard: 0 }), /never written/)
  assert.throws(() => story.history.item(a.key, 10, { count: a.count, shard: 3 }), /was written with 0/)
  assert.throws(() => story.history.item(story.key('b'), 10, { count: a.count, shard: 0 }), /never written/)
})
