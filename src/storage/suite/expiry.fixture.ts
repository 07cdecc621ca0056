/** Keys with a time to live. */
import assert from 'node:assert/strict'
import { prefixRange, type Store } from '../store.ts'
import { type Behaviours, bytes, follow, put, remove, shownEvent } from './support.fixture.ts'

const objects = prefixRange('/')

const lease = (store: Store, key: string, value: string, ttlSeconds: number) =>
  store.commit({ conditions: [], operations: [{ key, value: bytes(value), ttlSeconds }] })

export const expiry: Behaviours = {
  async 'a key with a time to live is deleted at a revision of its own'(store) {
    const watch = follow(store, objects, 1)
    const started = Date.now()
    const written = await lease(store, '/a', '1', 1)
    await watch.count(2)
    assert.ok(Date.now() - started >= 1000)
    const [first, last] = watch.events
    assert.deepEqual(
      [first, last].map((event) => event?.type),
      ['put', 'delete'],
    )
    assert.ok(written.committed && first!.revision === written.revision && last!.revision > written.revision)
    assert.equal(String(last!.previous?.value), '1')
    assert.equal(await store.get('/a'), undefined)
    watch.stop()
  },

  async 'each put sets the time to live anew, and a put without one ends it'(store) {
    const watch = follow(store, objects, 1)
    await lease(store, '/kept', '1', 1)
    await lease(store, '/longer', '1', 1)
    await lease(store, '/created-again', '1', 1)
    await lease(store, '/longer', '2', 3)
    await put(store, '/kept', '2')
    await remove(store, '/created-again')
    await put(store, '/created-again', '2')
    await watch.count(8)
    assert.equal(shownEvent({ ...watch.events.at(-1)!, revision: 0, previous: undefined }), '0 delete /longer')
    assert.equal(String((await store.get('/kept'))?.value), '2')
    assert.equal(String((await store.get('/created-again'))?.value), '2')
    watch.stop()
  },

  async 'a transaction that fails sets no time to live'(store) {
    await put(store, '/a', '1')
    const refused = await store.commit({
      conditions: [{ key: '/a', revision: 0 }],
      operations: [{ key: '/a', value: bytes('2'), ttlSeconds: 1 }],
    })
    assert.ok(!refused.committed)
    const watch = follow(store, objects, await store.currentRevision())
    await lease(store, '/b', '1', 2)
    await watch.count(2)
    assert.equal(String((await store.get('/a'))?.value), '1')
    watch.stop()
  },

  async 'hundreds of keys expire at the same time'(store) {
    const watch = follow(store, objects, 1)
    const names = Array.from({ length: 300 }, (_, i) => `/k/${i}`)
    await Promise.all(names.map((name) => lease(store, name, 'x', 1)))
    await watch.count(600)
    assert.deepEqual((await store.list(objects)).entries, [])
    watch.stop()
  },

  async 'the time to live goes on while the store is closed'(store, { reopen }) {
    if (!reopen) return
    await lease(store, '/a', '1', 1)
    await lease(store, '/b', '1', 1)
    await put(store, '/b', '2')
    await store.close()
    const again = await reopen()
    const watch = follow(again, objects, await again.currentRevision())
    if (await again.get('/a')) await watch.count(1)
    assert.equal(await again.get('/a'), undefined)
    assert.equal(String((await again.get('/b'))?.value), '2')
    watch.stop()
    await again.close()
  },
}
