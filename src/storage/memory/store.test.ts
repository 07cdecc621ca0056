import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeSuite } from '../suite/store-suite.fixture.ts'
import { memoryStore } from './index.ts'

storeSuite('the store in memory', async () => {
  const store = memoryStore()
  return { store, cleanup: () => store.close() }
})

test('compacting tens of thousands of deleted keys does not block the event loop', async () => {
  const store = memoryStore()
  const keys = Array.from({ length: 60_000 }, (_, i) => `/k/${i}`)
  for (const key of keys) await store.commit({ conditions: [], operations: [{ key, value: Buffer.from('x') }] })
  for (const key of keys) await store.commit({ conditions: [], operations: [{ key, delete: true }] })
  let longest = 0
  let last = performance.now()
  let done = false
  const watch = (): void => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!done) setImmediate(watch)
  }
  setImmediate(watch)
  await store.compact(await store.currentRevision())
  done = true
  assert.ok(longest < 1000, `others waited ${Math.round(longest)} ms`)
  assert.deepEqual((await store.list({ start: '/', end: '0' })).entries, [])
  await store.close()
})
