import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../../../storage/memory/index.ts'
import { DistantStore } from '../../../../storage/suite/distant-store.fixture.ts'
import { storeLike } from '../../../../storage/suite/store-like.fixture.ts'
import type { ListOptions } from '../../../request-options/list-options.ts'
import { fixture, turn } from '../cache.fixture.ts'
import { encodeContinue } from './continue-token.ts'
import { listObjects, type ObjectList } from './list-objects.ts'

const anyState: ListOptions = { limit: 0, continue: '', resourceVersion: '0', match: '', allowWatchBookmarks: false }
const newest: ListOptions = { ...anyState, resourceVersion: '' }

const shown = ({ objects, meta }: ObjectList): string[] => [
  ...objects.map(({ name }) => name),
  `at ${meta.resourceVersion}`,
]

/** A cache that has the ConfigMap `a` in memory; `b` was written by another process, and is not known here yet. */
async function start() {
  const distant = new DistantStore(memoryStore())
  const { registry, resource, put } = fixture(distant.store)
  await put('a')
  const loading = registry.cacher(resource).ready()
  distant.answer()
  await loading
  await put('b')
  const list = (options: ListOptions) => listObjects(registry, resource, 'default', options)
  return { distant, list, put }
}

/** Returns a function that returns true once the promise is settled. */
function settled(promise: unknown): () => Promise<boolean> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  Promise.resolve(promise).then(settle, settle)
  return async () => {
    // Longer than the cacher's first pauses.
    for (const end = performance.now() + 20; performance.now() < end; ) await turn()
    return isSettled
  }
}

for (const [what, options] of [
  ['a list without a resourceVersion', newest],
  ['a page of it', { ...newest, limit: 5 }],
  ['a page that continues at the newest state', { ...newest, continue: encodeContinue({ revision: -1, start: 'a' }) }],
] as const)
  test(`${what} waits for the current revision, and until the cache shows it`, async () => {
    const { distant, list, put } = await start()
    const listing = list(options)
    const isSettled = settled(listing)
    assert.equal(await isSettled(), false, 'the revision is unknown')
    assert.equal(distant.requests, 1)
    await put('c')
    distant.answer()
    assert.equal(await isSettled(), false, 'the cache is older')
    distant.deliver()
    assert.deepEqual(shown(await listing), ['a', 'b', 'c', 'at 4'])
  })

test('a list of resourceVersion=0 does not ask for the current revision, and shows what is in memory', async () => {
  const { distant, list } = await start()
  const listed = list(anyState)
  assert.ok(!(listed instanceof Promise))
  assert.deepEqual(shown(listed), ['a', 'at 2'])
  assert.equal(distant.requests, 0)
})

test('a list of a resourceVersion waits for it, and does not ask for the current one', async () => {
  const { distant, list } = await start()
  const listing = list({ ...anyState, resourceVersion: '3' })
  assert.equal(await settled(listing)(), false)
  distant.deliver()
  assert.deepEqual(shown(await listing), ['a', 'b', 'at 3'])
  assert.equal(distant.requests, 0)
})

test('a consistent list waits for the newest revision, whichever resource it wrote', async () => {
  const { distant, list } = await start()
  distant.deliver()
  await distant.store.commit({ conditions: [], operations: [{ key: '/registry/pods/p', value: Buffer.from('{}') }] })
  const listing = list(newest)
  distant.answer()
  assert.equal(await settled(listing)(), false)
  distant.deliver()
  assert.deepEqual(shown(await listing), ['a', 'b', 'at 4'])
})

test('a consistent list fails if the store cannot say its revision; others are still served', async () => {
  const store = memoryStore()
  let isConnected = true
  const { registry, resource, put } = fixture(
    storeLike(store, {
      currentRevision: () => (isConnected ? store.currentRevision() : Promise.reject(new Error('no connection'))),
    }),
  )
  await put('a')
  await registry.cacher(resource).ready()
  isConnected = false
  await assert.rejects(async () => listObjects(registry, resource, 'default', newest), /no connection/)
  assert.deepEqual(shown(await listObjects(registry, resource, 'default', anyState)), ['a', 'at 2'])
})
