import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../../../storage/memory/index.ts'
import { fixture } from '../cache.fixture.ts'
import { changesAfter } from './past-changes.ts'

test('past changes are read in portions, from memory and the store, complete and in order', async () => {
  const store = memoryStore()
  const { registry, resource, put, remove } = fixture(store)
  const start = await store.currentRevision()
  for (let i = 0; i < 3000; i++) await (i % 5 === 4 ? remove(`n${i % 50}`) : put(`n${i % 50}`, 'x'.repeat(2000)))
  const view = await registry.cacher(resource).ready()
  for (let i = 0; i < 900; i++) await put(`n${i % 50}`, 'x'.repeat(2000))
  const revisions: number[] = []
  let portions = 0
  for (let revision = start; revision < view.revision; portions++) {
    const { changes, through } = await changesAfter(view, store, resource.range('default'), revision)
    assert.ok(changes.length <= 501)
    revisions.push(...changes.map((change) => change.revision))
    revision = through
  }
  assert.deepEqual(
    revisions,
    Array.from({ length: view.revision - start }, (_, i) => start + 1 + i),
  )
  assert.ok(portions > 10, `${portions} portions`)
})

test('a namespace without changes yields no changes and reads up to the newest revision', async () => {
  const store = memoryStore()
  const { registry, resource, put } = fixture(store)
  const start = await store.currentRevision()
  for (let i = 0; i < 100; i++) await put(`n${i}`)
  const view = await registry.cacher(resource).ready()
  assert.deepEqual(await changesAfter(view, store, resource.range('other'), start), {
    changes: [],
    through: await store.currentRevision(),
  })
})

test('changes from a compacted revision end with 410 Expired', async () => {
  const store = memoryStore()
  const { registry, resource, put } = fixture(store)
  for (let i = 0; i < 10; i++) await put('a')
  await store.compact(8)
  const view = await registry.cacher(resource).ready()
  await assert.rejects(changesAfter(view, store, resource.range(''), 5), {
    code: 410,
    message: 'too old resource version: 5 (8)',
  })
})
