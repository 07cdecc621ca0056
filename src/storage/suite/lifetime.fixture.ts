/** Tests of closing and reopening. */
import assert from 'node:assert/strict'
import { CompactedError, StoreClosedError } from '../store.ts'
import { type Behaviours, create, everything, follow, put, remove, shown, shownEvent } from './support.fixture.ts'

export const lifetime: Behaviours = {
  'closing waits for running commits, ends watches, and rejects later calls': async (store) => {
    await put(store, '/a', '1')
    const watched = follow(store, everything, 2)
    const late = follow(store, everything, 1)
    const stopped = follow(store, everything, 2)
    stopped.stop()
    const underWay = Promise.all(Array.from({ length: 20 }, (_, i) => put(store, `/k/${i}`, '1')))
    const closed = store.close()
    assert.deepEqual(
      (await underWay).map((result) => result.committed),
      Array<boolean>(20).fill(true),
    )
    await closed
    await store.close()
    assert.equal(watched.events.length, 20)
    assert.ok((await watched.end()) instanceof StoreClosedError)
    assert.ok((await late.end()) instanceof StoreClosedError)
    assert.equal(stopped.ended(), undefined)
    await assert.rejects(put(store, '/a', '2'), StoreClosedError)
    await assert.rejects(store.get('/a'), StoreClosedError)
    await assert.rejects(store.currentRevision(), StoreClosedError)
    await assert.rejects(store.list(everything), StoreClosedError)
    await assert.rejects(store.compact(1), StoreClosedError)
    assert.ok((await follow(store, everything, 2).end()) instanceof StoreClosedError)
    assert.ok((await follow(store, everything, 1).end()) instanceof StoreClosedError)
  },

  'commits and their history are there after a restart': async (store, { reopen }) => {
    if (!reopen) return
    await put(store, '/a', '1')
    await put(store, '/a', '2')
    await put(store, '/b', '3')
    await remove(store, '/b')
    await store.compact(2)
    const again = await reopen()
    assert.equal(await again.currentRevision(), 5)
    assert.equal(again.compactedRevision, 2)
    assert.deepEqual((await again.list(everything)).entries.map(shown), ['/a=2@3'])
    assert.deepEqual((await again.list({ ...everything, revision: 4 })).entries.map(shown), ['/a=2@3', '/b=3@4'])
    await assert.rejects(again.get('/a', 1), CompactedError)
    const watched = follow(again, everything, 2)
    await watched.count(3)
    assert.deepEqual(watched.events.map(shownEvent), ['3 put /a=2 was 1@2', '4 put /b=3', '5 delete /b was 3@4'])
    assert.deepEqual(await put(again, '/c', '6'), { committed: true, revision: 6 })
    assert.equal(watched.events.length, 4)
  },

  'the revision continues after a full compaction and a restart': async (store, { reopen }) => {
    if (!reopen) return
    await put(store, '/a', '1')
    await remove(store, '/a')
    await store.compact(3)
    const again = await reopen()
    assert.equal(await again.currentRevision(), 3)
    assert.equal(again.compactedRevision, 3)
    assert.deepEqual(await create(again, '/a', '2'), { committed: true, revision: 4 })
  },
}
