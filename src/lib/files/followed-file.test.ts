import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { followFile } from './followed-file.ts'

test('changes are told, and once that the file is gone for longer than a look', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-followed-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'text')
  const told: string[] = []
  const followed = followFile(
    file,
    'a',
    (text) => void told.push(text),
    (error) => told.push((error as NodeJS.ErrnoException).code ?? ''),
  )
  t.after(() => followed.stop())
  const after = async (change: () => void, looks = 1): Promise<readonly string[]> => {
    change()
    for (let i = 0; i < looks; i++) await followed.look()
    return told.splice(0)
  }
  assert.deepEqual(await after(() => writeFileSync(file, 'a'), 2), [])
  assert.deepEqual(await after(() => writeFileSync(file, 'longer')), ['longer'])
  assert.deepEqual(await after(() => rmSync(file), 4), ['ENOENT'])
  assert.deepEqual(await after(() => writeFileSync(file, 'longer')), [])
  assert.deepEqual(await after(() => rmSync(file), 3), ['ENOENT'])
  assert.deepEqual(await after(() => writeFileSync(file, 'back')), ['back'])
  assert.deepEqual(await after(() => followed.stop(), 3), [])
  assert.deepEqual(await after(() => writeFileSync(file, 'too late'), 1), [])
})
