import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../volumes.fixture.ts'
import { clearFolder, removeIfEmpty, removeTree } from './clear-folder.ts'
import { FakeMounter } from './fake-mounter.fixture.ts'

const tmpfs = (target: string) => ({ source: 'tmpfs', target, type: 'tmpfs', options: [] })

test('a folder is removed after everything in it was unmounted', async (t) => {
  const root = temporaryFolder(t)
  const folder = join(root, 'volume')
  mkdirSync(join(folder, 'a/b'), { recursive: true })
  const mounter = new FakeMounter()
  for (const target of [folder, join(folder, 'a'), join(folder, 'a/b'), join(root, 'volume-2')])
    await mounter.mount(tmpfs(target))
  await clearFolder(mounter, folder)
  assert.deepEqual(mounter.targets, [join(root, 'volume-2')])
  assert.equal(existsSync(folder), false)
  await clearFolder(mounter, folder)
})

test('nothing is removed while something is mounted', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), 'x')
  const mounter = new FakeMounter()
  await mounter.mount(tmpfs(join(folder, 'mnt')))
  mounter.unmount = async () => {}
  await assert.rejects(clearFolder(mounter, folder), /mnt is still mounted/)
  assert.ok(existsSync(join(folder, 'file')))
})

test('symlinks are removed, not followed', async (t) => {
  const outside = temporaryFolder(t)
  writeFileSync(join(outside, 'file'), 'x')
  const folder = join(temporaryFolder(t), 'volume')
  mkdirSync(folder)
  symlinkSync(outside, join(folder, 'link'))
  await removeTree(folder)
  assert.equal(existsSync(folder), false)
  assert.equal(readFileSync(join(outside, 'file'), 'utf8'), 'x')
})

test('only an empty folder is removed if it must be empty', async (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'empty'))
  await removeIfEmpty(join(folder, 'empty'))
  await removeIfEmpty(join(folder, 'empty'))
  writeFileSync(join(folder, 'file'), 'x')
  await removeIfEmpty(folder)
  assert.ok(existsSync(join(folder, 'file')))
})
