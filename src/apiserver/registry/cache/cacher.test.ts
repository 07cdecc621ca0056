import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../../storage/memory/index.ts'
import type { Observer } from '../../../storage/store.ts'
import { DistantStore } from '../../../storage/suite/distant-store.fixture.ts'
import { storeLike } from '../../../storage/suite/store-like.fixture.ts'
import { fixture, shownBy, truthAt, turn } from './cache.fixture.ts'
import type { ObjectChange } from './object-change.ts'

test('a view that is loaded during writes shows exactly the writes up to its revision, then and later', async () => {
  for (let round = 0; round < 20; round++) {
    const store = memoryStore()
    // Pages arrive late: by then there are newer changes.
    const slow = storeLike(store, {
      list: async (options) => {
        const result = await store.list(options)
        for (let i = 0; i < round % 4; i++) await turn()
        return result
      },
    })
    const { registry, resource, put, remove } = fixture(slow)
    for (let i = 0; i < 2000; i++) await put(`n${i}`)
    let writing = true
    const writer = async (id: number): Promise<void> => {
      for (let i = id; writing; i += 7) {
        const name = `n${(i * 7919) % 2200}`
        await (i % 3 === 0 ? remove(name) : put(name, `${i}`))
        if (i % 4 === 0) await turn()
      }
    }
    const writers = Promise.all([0, 1, 2, 3].map(writer))
    const view = await registry.cacher(resource).ready()
    assert.deepEqual(shownBy(view), await truthAt(store, resource, view.revision))
    const from = view.revision
    const state = new Map(shownBy(view).map((text) => text.split(' ') as [string, string]))
    const heard: ObjectChange[] = []
    view.subscribe({ changes: (batch) => void heard.push(...batch), end: () => {} })
    for (let i = 0; i < 20; i++) {
      await turn()
      assert.deepEqual(shownBy(view), await truthAt(store, resource, view.revision))
    }
    writing = false
    await writers
    assert.equal(view.revision, await store.currentRevision())
    assert.deepEqual(heard, view.changesSince(from))
    for (const { type, object, revision } of heard) {
      if (type === 'put') state.set(object.name, String(revision))
      else state.delete(object.name)
    }
    assert.deepEqual([...state].map((pair) => pair.join(' ')).sort(), shownBy(view).sort())
  }
})

test('compaction does not disturb a load', async () => {
  const store = memoryStore()
  const { registry, resource, put } = fixture(
    storeLike(store, {
      list: async (options) => {
        await put('moving')
        await store.compact(await store.currentRevision())
        return store.list(options)
      },
    }),
  )
  for (let i = 0; i < 1200; i++) await put(`n${i}`)
  const view = await registry.cacher(resource).ready()
  assert.deepEqual(shownBy(view), await truthAt(store, resource, view.revision))
})

test('a load waits until its watch has received what the load has read', async () => {
  const store = memoryStore()
  const distant = new DistantStore(
    storeLike(store, {
      list: async (options) => {
        await put('b')
        return store.list(options)
      },
    }),
  )
  const { registry, resource, put } = fixture(distant.store)
  await put('a')
  let isLoaded = false
  const loading = registry
    .cacher(resource)
    .ready()
    .finally(() => {
      isLoaded = true
    })
  distant.answer()
  for (const end = performance.now() + 20; performance.now() < end; ) await turn()
  assert.equal(isLoaded, false)
  distant.deliver()
  const view = await loading
  assert.equal(view.revision, 3)
  assert.deepEqual(shownBy(view), ['a 2', 'b 3'])
})

test('a view at a revision includes writes to other resources up to that revision', async () => {
  const store = memoryStore()
  const { registry, resource, put } = fixture(store)
  await put('a')
  const view = await registry.cacher(resource).ready()
  await store.commit({ conditions: [], operations: [{ key: '/registry/elsewhere/a', value: Buffer.from('{}') }] })
  assert.equal(view.revision, await store.currentRevision())
})

test('a view ends with its watch on the store; the next one has no hole in its history', async () => {
  const store = memoryStore()
  const observers: Observer[] = []
  const { registry, resource, put } = fixture(
    storeLike(store, {
      watch: (range, after, observer) => {
        observers.push(observer)
        return store.watch(range, after, observer)
      },
    }),
  )
  await put('a')
  const cacher = registry.cacher(resource)
  const first = await cacher.ready()
  const before = first.revision
  await put('b')
  let ended: Error | undefined
  first.subscribe({
    changes: () => {},
    end: (error) => {
      ended = error
    },
  })
  observers[0]!.end(new Error('the disk is gone'))
  assert.equal(ended?.message, 'the disk is gone')
  assert.equal(cacher.live, undefined)
  await put('c')
  const second = await cacher.ready()
  assert.deepEqual(shownBy(second), await truthAt(store, resource, second.revision))
  assert.equal(second.changesSince(before), undefined)
  await put('d')
  assert.deepEqual(
    second.changesSince(second.revision - 1)?.map(({ object }) => object.name),
    ['d'],
  )
})

test('a failed load rejects for all waiting callers, and the next call retries', async () => {
  const store = memoryStore()
  let broken = true
  const { registry, resource, put } = fixture(
    storeLike(store, {
      list: (options) => (broken ? Promise.reject(new Error('the disk cannot be read')) : store.list(options)),
    }),
  )
  await put('a')
  const cacher = registry.cacher(resource)
  await assert.rejects(cacher.ready(), /the disk cannot be read/)
  broken = false
  assert.equal((await cacher.ready()).objects.size, 1)
})

test('a listener that throws is removed; other listeners and the commit are not affected', async () => {
  const { registry, resource, put } = fixture(memoryStore())
  const view = await registry.cacher(resource).ready()
  const ends: string[] = []
  const heard: string[] = []
  view.subscribe({
    changes: () => {
      throw new Error('broken listener')
    },
    end: (error) => {
      ends.push(error.message)
      throw new Error('broken end')
    },
  })
  view.subscribe({ changes: (batch) => void heard.push(...batch.map(({ object }) => object.name)), end: () => {} })
  await put('a')
  await put('b')
  assert.deepEqual(ends, ['broken listener'])
  assert.deepEqual(heard, ['a', 'b'])
  assert.equal(view.objects.size, 2)
})

test('the change history is bounded in number and bytes, and reports from where it is complete', async () => {
  const { registry, resource, put } = fixture(memoryStore())
  const view = await registry.cacher(resource).ready()
  const start = view.revision
  for (let i = 0; i < 100; i++) await put('small')
  assert.equal(view.changesSince(start)?.length, 100)
  for (let i = 0; i < 40; i++) await put('large', 'x'.repeat(1_000_000))
  assert.equal(view.changesSince(start), undefined)
  assert.ok(view.changesSince(view.revision - 5)!.length === 5)
  let kept = 0
  for (let back = 1; view.changesSince(view.revision - back); back++) kept = back
  assert.ok(kept >= 5 && kept <= 11, `${kept} of a megabyte each`)
})
