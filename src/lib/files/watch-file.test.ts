import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { watchFile } from './watch-file.ts'

test('notifies of changes, and once if the file is missing for more than one check', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-watcher-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'text')
  const calls: string[] = []
  const watcher = watchFile(
    file,
    'a',
    (text) => void calls.push(text),
    (error) => calls.push((error as NodeJS.ErrnoException).code ?? ''),
  )
  t.after(() => watcher.stop())
  const after = async (change: () => void, checks = 1): Promise<readonly string[]> => {
    change()
    for (let i = 0; i < checks; i++) await watcher.check()
    return calls.splice(0)
  }
  assert.deepEqual(await after(() => writeFileSync(file, 'a'), 2), [])
  assert.deepEqual(await after(() => writeFileSync(file, 'longer')), ['longer'])
  assert.deepEqual(await after(() => rmSync(file), 4), ['ENOENT'])
  assert.deepEqual(await after(() => writeFileSync(file, 'longer')), [])
  assert.deepEqual(await after(() => rmSync(file), 3), ['ENOENT'])
  assert.deepEqual(await after(() => writeFileSync(file, 'back')), ['back'])
  assert.deepEqual(await after(() => watcher.stop(), 3), [])
  assert.deepEqual(await after(() => writeFileSync(file, 'too late'), 1), [])
})
