import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CompactedError, StoreOpenError } from '../store.ts'
import { keptMemoryStore } from './index.ts'

function file(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-kept-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'memory')
}

const put = (key: string, value: string, revision = 0) => ({
  conditions: [{ key, revision }],
  operations: [{ key, value: Buffer.from(value) }],
})

test('what a store held when it closed is there when it opens again, with its revisions', async (t) => {
  const path = file(t)
  const first = keptMemoryStore(path)
  await first.commit(put('/b', 'older'))
  await first.commit(put('/a', 'ä\n\0'))
  await first.commit(put('/b', 'newer', 2))
  await first.commit(put('/c', 'gone'))
  await first.commit({ conditions: [], operations: [{ key: '/c', delete: true }] })
  await first.close()

  const second = keptMemoryStore(path)
  assert.equal(second.revision, 6)
  const { entries } = await second.list({ start: '/', end: '0' })
  assert.deepEqual(
    entries.map(({ key, value, revision }) => [key, value.toString(), revision]),
    [
      ['/a', 'ä\n\0', 3],
      ['/b', 'newer', 4],
    ],
  )
  await assert.rejects(second.get('/b', 3), CompactedError)
  assert.deepEqual(await second.commit(put('/b', 'newest', 4)), { committed: true, revision: 7 })
  await second.close()
})

test('a folder that has been removed is not made again', async (t) => {
  const path = file(t)
  const store = keptMemoryStore(path)
  await store.commit(put('/a', '1'))
  rmSync(join(path, '..'), { recursive: true })
  await store.close()
})

test('a file of something else is refused and left alone', (t) => {
  const path = file(t)
  writeFileSync(path, 'something else')
  assert.throws(() => keptMemoryStore(path), StoreOpenError)
})
