import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { withLocks } from './lock.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 't8s-lock-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('all files are locked during the action, and unlocked afterwards', async (t) => {
  const files = ['b', 'a'].map((name) => join(folder(t), 'new', name))
  const locks = files.map((file) => `${file}.lock`)
  assert.equal(await withLocks(files, () => locks.every((lock) => existsSync(lock))), true)
  await assert.rejects(
    withLocks(files, () => {
      throw new Error('no')
    }),
    /no/,
  )
  assert.ok(!locks.some((lock) => existsSync(lock)))
})

test('a held lock is an error, and earlier locks are released', async (t) => {
  const path = folder(t)
  const files = ['a', 'b'].map((name) => join(path, name))
  writeFileSync(`${files[1]}.lock`, '')
  await assert.rejects(
    withLocks(files, () => assert.fail(), { timeoutMs: 1 }),
    /b is locked by another program .*remove .*b\.lock if no program is writing/,
  )
  assert.deepEqual([existsSync(`${files[0]}.lock`), existsSync(`${files[1]}.lock`)], [false, true])
})

test('a waiting writer continues as soon as the lock is released', async (t) => {
  const file = join(folder(t), 'a')
  writeFileSync(`${file}.lock`, '')
  const waiting = withLocks([file], () => 'done', { timeoutMs: 60_000 })
  rmSync(`${file}.lock`)
  assert.equal(await waiting, 'done')
})
