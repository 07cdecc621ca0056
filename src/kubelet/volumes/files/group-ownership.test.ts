import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needsRoot, temporaryFolder } from '../volumes.fixture.ts'
import { applyGroup } from './group-ownership.ts'

const fail = (line: string) => assert.fail(line)
const shown = (path: string) => {
  const { gid, mode } = statSync(path)
  return `${gid} ${(mode & 0o7777).toString(8)}`
}

test('files and folders get the group, its bits and setgid', { skip: needsRoot }, async (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'dir'), { mode: 0o700 })
  writeFileSync(join(folder, 'dir/file'), '', { mode: 0o604 })
  chmodSync(folder, 0o755)
  await applyGroup(folder, { group: 1234, isReadOnly: false }, fail)
  assert.deepEqual(
    ['', 'dir', 'dir/file'].map((path) => shown(join(folder, path))),
    ['1234 2775', '1234 2770', '1234 664'],
  )
})

test('the group of a read-only volume may not write', { skip: needsRoot }, async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '', { mode: 0o600 })
  chmodSync(folder, 0o755)
  await applyGroup(folder, { group: 1234, isReadOnly: true }, fail)
  assert.deepEqual([shown(folder), shown(join(folder, 'file'))], ['1234 2755', '1234 640'])
})

test('targets of symlinks stay as they are', { skip: needsRoot }, async (t) => {
  const outside = join(temporaryFolder(t), 'secret')
  writeFileSync(outside, '', { mode: 0o600 })
  const folder = temporaryFolder(t)
  symlinkSync(outside, join(folder, 'link'))
  await applyGroup(folder, { group: 1234, isReadOnly: false }, fail)
  assert.equal(shown(outside), '0 600')
  assert.equal(lstatSync(join(folder, 'link')).gid, 1234)
})

test('OnRootMismatch skips a volume whose folder is right', { skip: needsRoot }, async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '', { mode: 0o600 })
  chownSync(folder, -1, 1234)
  chmodSync(folder, 0o2775)
  const ownership = { group: 1234, isReadOnly: false, changePolicy: 'OnRootMismatch' }
  await applyGroup(folder, ownership, fail)
  assert.equal(shown(join(folder, 'file')), '0 600')
  chmodSync(folder, 0o775)
  await applyGroup(folder, ownership, fail)
  assert.equal(shown(join(folder, 'file')), '1234 660')
})

test('a file that is swapped with a symlink does not lead outside', { skip: needsRoot }, async (t) => {
  const outside = join(temporaryFolder(t), 'secret')
  writeFileSync(outside, '', { mode: 0o600 })
  const folder = temporaryFolder(t)
  for (let i = 0; i < 200; i++) writeFileSync(join(folder, `f${i}`), '')
  let isSwapping = true
  const swap = (async () => {
    for (let i = 0; isSwapping; i = (i + 1) % 200) {
      symlinkSync(outside, join(folder, 'new'))
      renameSync(join(folder, 'new'), join(folder, `f${i}`))
      await new Promise((resolve) => setImmediate(resolve))
      unlinkSync(join(folder, `f${i}`))
      writeFileSync(join(folder, `f${i}`), '')
    }
  })()
  for (let round = 0; round < 5; round++) await applyGroup(folder, { group: 1234 + round, isReadOnly: false }, () => {})
  isSwapping = false
  await swap
  assert.equal(shown(outside), '0 600')
})
