import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../storage/memory/index.ts'
import { DistantStore } from '../../storage/suite/distant-store.fixture.ts'
import { storeLike } from '../../storage/suite/store-like.fixture.ts'
import { fixture } from './cache/cache.fixture.ts'

/** A cache that has the ConfigMap `a`; another server has written `b`, which has not arrived here. */
async function start(isShared: boolean) {
  const distant = new DistantStore(memoryStore())
  const { registry, resource, put } = fixture(storeLike(distant.store, { isShared }))
  await put('a')
  const loading = registry.cacher(resource).ready()
  distant.answer()
  await loading
  await put('b')
  return { distant, current: (name: string) => registry.current(resource, resource.key('default', name)) }
}

test('the current object of a shared store is what all servers have written', async () => {
  const { distant, current } = await start(true)
  const reading = current('b')
  assert.equal(distant.requests, 1)
  distant.answer()
  distant.deliver()
  assert.equal((await reading)?.name, 'b')
})

test('the current object of a store with one writer is read from memory', async () => {
  const { distant, current } = await start(false)
  const found = current('a')
  assert.ok(found !== undefined && !(found instanceof Promise))
  assert.equal(distant.requests, 0)
})

test('an object is read from the store if the cache does not receive it in time', async (t) => {
  const { distant, current } = await start(true)
  t.mock.method(performance, 'now', nowPlus(4000))
  const reading = current('b')
  distant.answer()
  assert.equal((await reading)?.name, 'b')
})

/** A clock that is ahead by `ms` from its third call on. */
function nowPlus(ms: number): () => number {
  const now = performance.now.bind(performance)
  let calls = 0
  return () => now() + (++calls > 2 ? ms : 0)
}
