import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CompactedError, StoreOpenError } from '../store.ts'
import { keptMemoryStore } from './index.ts'

function file(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-persistent-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'memory')
}

const put = (key: string, value: string, revision = 0) => ({
  conditions: [{ key, revision }],
  operations: [{ key, value: Buffer.from(value) }],
})

test('the content of a closed store and its revisions are there after reopening', async (t) => {
  const path = file(t)
  const first = keptMemoryStore(path)
  await first.commit(put('/b', 'older'))
  await first.commit(put('/a', 'ä\n\0'))
  await first.commit(put('/b', 'newer', 2))
  await first.commit(put('/c', 'deleted'))
  await first.commit({ conditions: [], operations: [{ key: '/c', delete: true }] })
  await first.close()

  const second = keptMemoryStore(path)
  assert.equal(await second.currentRevision(), 6)
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

test('closing does not recreate a removed folder', async (t) => {
  const path = file(t)
  const store = keptMemoryStore(path)
  await store.commit(put('/a', '1'))
  rmSync(join(path, '..'), { recursive: true })
  await store.close()
})

test('a file in another format is rejected', (t) => {
  const path = file(t)
  writeFileSync(path, 'something else')
  assert.throws(() => keptMemoryStore(path), StoreOpenError)
})
