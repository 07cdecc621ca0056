/** Tests of transactions: compare-and-set, all or nothing. */
import assert from 'node:assert/strict'
import { type CommitResult, prefixRange, RequestTooLargeError } from '../store.ts'
import { type Behaviours, bytes, create, everything, put, remove, shown } from './support.fixture.ts'

export const transactions: Behaviours = {
  'an empty store is at revision 1 and has no entries': async (store) => {
    assert.equal(await store.currentRevision(), 1)
    assert.equal(await store.get('/a'), undefined)
    assert.deepEqual(await store.list(everything), { entries: [], revision: 1, more: false })
  },

  'the revision grows by one with each transaction, however many keys it writes': async (store) => {
    assert.deepEqual(await put(store, '/a', '1'), { committed: true, revision: 2 })
    const both = [
      { key: '/b', value: bytes('2') },
      { key: '/c', value: bytes('3') },
    ]
    assert.deepEqual(await store.commit({ conditions: [], operations: both }), { committed: true, revision: 3 })
    assert.deepEqual((await store.list(everything)).entries.map(shown), ['/a=1@2', '/b=2@3', '/c=3@3'])
    assert.equal(await store.currentRevision(), 3)
  },

  'a transaction that changes nothing leaves the revision as it is': async (store) => {
    await put(store, '/a', '1')
    assert.deepEqual(await remove(store, '/absent'), { committed: true, revision: 2 })
    assert.deepEqual(await store.commit({ conditions: [{ key: '/a', revision: 2 }], operations: [] }), {
      committed: true,
      revision: 2,
    })
    assert.equal(await store.currentRevision(), 2)
  },

  'values of any length and content are returned unchanged': async (store) => {
    for (const size of [0, 1, 2_000, 2_037, 4_096, 40_000, 1_500_000]) {
      const value = Buffer.alloc(size, Uint8Array.of(0, 255, 10, 7))
      await store.commit({ conditions: [], operations: [{ key: `/sized/${size}`, value }] })
      assert.ok(value.equals((await store.get(`/sized/${size}`))!.value), `${size} bytes by get`)
    }
    for (const { key, value } of (await store.list(prefixRange('/sized/'))).entries)
      assert.equal(`/sized/${value.length}`, key)
  },

  'a condition of revision 0 holds for absent and deleted keys only': async (store) => {
    assert.equal((await create(store, '/a', '1')).committed, true)
    const again = await create(store, '/a', '2')
    assert.ok(!again.committed)
    assert.deepEqual(again.current.map(shown), ['/a=1@2'])
    await remove(store, '/a')
    assert.equal((await create(store, '/a', '3')).committed, true)
    assert.equal(shown(await store.get('/a')), '/a=3@4')
  },

  'a condition on a revision holds only at that revision; a conflict returns the current entries': async (store) => {
    await put(store, '/a', '1')
    await put(store, '/b', '2')
    const conditions = [
      { key: '/a', revision: 2 },
      { key: '/b', revision: 2 },
      { key: '/c', revision: 0 },
    ]
    const result = await store.commit({ conditions, operations: [{ key: '/a', value: bytes('9') }] })
    assert.ok(!result.committed)
    assert.deepEqual(result.current.map(shown), ['/a=1@2', '/b=2@3', undefined])
    assert.equal(shown(await store.get('/a')), '/a=1@2')
    assert.equal(
      (await store.commit({ conditions: [{ key: '/b', revision: 3 }], operations: [{ key: '/b', delete: true }] }))
        .committed,
      true,
    )
    assert.equal(await store.get('/b'), undefined)
  },

  'of many writers with the same revision exactly one succeeds': async (store) => {
    await put(store, '/a', '0')
    const attempts = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.commit({ conditions: [{ key: '/a', revision: 2 }], operations: [{ key: '/a', value: bytes(`${i}`) }] }),
      ),
    )
    assert.deepEqual(
      attempts.map((attempt) => attempt.committed),
      [true, ...Array<boolean>(19).fill(false)],
    )
    for (const attempt of attempts.slice(1))
      assert.deepEqual(attempt.committed || attempt.current.map(shown), ['/a=0@3'])
  },

  'a counter incremented by many writers with compare-and-set loses no update': async (store) => {
    await put(store, '/n', '0')
    const increment = async () => {
      for (;;) {
        const entry = (await store.get('/n'))!
        const result = await store.commit({
          conditions: [{ key: '/n', revision: entry.revision }],
          operations: [{ key: '/n', value: bytes(`${Number(entry.value) + 1}`) }],
        })
        if (result.committed) return
      }
    }
    await Promise.all(Array.from({ length: 30 }, increment))
    assert.equal(shown(await store.get('/n')), '/n=30@32')
  },

  'a commit sees earlier commits, even if they are not durable yet': async (store) => {
    const results = await Promise.all([
      create(store, '/a', '1'),
      store.commit({ conditions: [{ key: '/a', revision: 2 }], operations: [{ key: '/a', delete: true }] }),
      create(store, '/a', '2'),
    ])
    assert.deepEqual(
      results,
      [2, 3, 4].map((revision): CommitResult => ({ committed: true, revision })),
    )
    assert.equal(shown(await store.get('/a', 2)), '/a=1@2')
    assert.equal(await store.get('/a', 3), undefined)
  },

  'invalid keys and more than 1.5 MiB are rejected, and no part of the transaction is applied': async (store) => {
    for (const key of ['', 'a\0b', '\ud800', 'x'.repeat(2_000)]) await assert.rejects(put(store, key, '1'), RangeError)
    const twice = [
      { key: '/a', value: bytes('1') },
      { key: '/a', delete: true as const },
    ]
    await assert.rejects(store.commit({ conditions: [], operations: twice }), RangeError)
    assert.equal(await store.currentRevision(), 1)
    await assert.rejects(put(store, '/a', 'x'.repeat(1.5 * 1024 * 1024)), RequestTooLargeError)
    const half = bytes('x'.repeat(768 * 1024))
    const large = ['/a', '/b'].map((key) => ({ key, value: half }))
    await assert.rejects(store.commit({ conditions: [], operations: large }), RequestTooLargeError)
    assert.equal(await store.currentRevision(), 1)
    const longest = `/${'ä'.repeat(890)}`
    await put(store, longest, 'fits')
    assert.equal(shown(await store.get(longest)), `${longest}=fits@2`)
  },
}
