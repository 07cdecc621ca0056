import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from './memory/index.ts'
import { PrefixedStore } from './prefixed-store.ts'
import { type ChangeEvent, prefixRange } from './store.ts'

for (const stored of ['/kubernetes.io', '']) {
  test(`keys below /registry are stored below ${stored}/, and are seen below /registry`, async () => {
    const inner = memoryStore()
    const store = new PrefixedStore(inner, { seen: '/registry', stored })
    const events: ChangeEvent[] = []
    store.watch(prefixRange('/registry/pods/'), 1, { events: (more) => events.push(...more), end: () => {} })
    const key = '/registry/pods/default/a'
    const put = { conditions: [{ key, revision: 0 }], operations: [{ key, value: Buffer.from('1') }] }
    assert.deepEqual(await store.commit(put), { committed: true, revision: 2 })
    assert.equal((await inner.get(`${stored}/pods/default/a`))?.revision, 2)
    assert.equal((await store.get(key))?.key, key)
    assert.deepEqual(
      (await store.list(prefixRange('/registry/'))).entries.map((entry) => entry.key),
      [key],
    )
    assert.equal(await store.count(prefixRange('/registry/pods/')), 1)
    const refused = await store.commit(put)
    assert.equal(refused.committed || refused.current[0]?.key, key)
    await store.commit({ conditions: [], operations: [{ key, delete: true }] })
    assert.deepEqual(
      events.map((event) => [event.type, event.key, event.previous?.key]),
      [
        ['put', key, undefined],
        ['delete', key, key],
      ],
    )
    assert.equal((await store.changes(prefixRange('/registry/'), 1)).events[0]?.key, key)
    await store.close()
  })
}
