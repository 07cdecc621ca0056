import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { handlePath } from '../files/handles.ts'
import { temporaryFolder } from '../volumes.fixture.ts'
import { safeMakeFolder, safeOpen } from './safe-open.ts'
import { swapping } from './swapping.fixture.ts'

function volume(t: TestContext) {
  const root = temporaryFolder(t)
  mkdirSync(join(root, 'outside'))
  writeFileSync(join(root, 'outside/secret'), 'secret')
  const folder = join(root, 'volume')
  mkdirSync(join(folder, 'dir'), { recursive: true })
  writeFileSync(join(folder, 'dir/file'), 'content')
  return { root, folder }
}

/** The path that is opened. */
async function opened(folder: string, subPath: string): Promise<string> {
  await using handle = await safeOpen(folder, subPath)
  return readlinkSync(handlePath(handle))
}

test('files, folders and the volume itself are opened', async (t) => {
  const { folder } = volume(t)
  for (const subPath of ['dir/file', 'dir', '.']) assert.equal(await opened(folder, subPath), join(folder, subPath))
})

test('symlinks within the volume are followed', async (t) => {
  const { root, folder } = volume(t)
  symlinkSync('dir', join(folder, 'relative'))
  symlinkSync(join(folder, 'dir'), join(folder, 'absolute'))
  symlinkSync('volume', join(root, 'link'))
  for (const subPath of ['relative/file', 'absolute/file'])
    assert.equal(await opened(folder, subPath), join(folder, 'dir/file'))
  assert.equal(await opened(join(root, 'link'), 'dir/file'), join(folder, 'dir/file'))
})

for (const [title, target] of [
  ['an absolute symlink', '/etc'],
  ['a relative symlink', '../outside'],
  ['a symlink to the parent', '..'],
  ['a symlink with a common beginning of the name', '../volume-2'],
] as const)
  test(`${title} out of the volume is refused`, async (t) => {
    const { root, folder } = volume(t)
    mkdirSync(join(root, 'volume-2'))
    symlinkSync(target, join(folder, 'link'))
    await assert.rejects(safeOpen(folder, 'link'), /is outside of allowed base/)
    await assert.rejects(safeMakeFolder(folder, 'link/new', 0o755), /is outside of allowed base/)
    assert.equal(existsSync(join(folder, target, 'new')), false)
  })

test('missing paths and loops are errors', async (t) => {
  const { folder } = volume(t)
  symlinkSync('loop', join(folder, 'loop'))
  await assert.rejects(safeOpen(folder, 'missing'), /ENOENT/)
  await assert.rejects(safeOpen(folder, 'loop'), /ELOOP/)
})

test('missing folders are made with the exact mode', async (t) => {
  const { folder } = volume(t)
  await safeMakeFolder(folder, 'dir/a/b', 0o2775)
  assert.equal(statSync(join(folder, 'dir/a/b')).mode & 0o7777, 0o2775)
  await safeMakeFolder(folder, 'dir/a/b', 0o700)
  assert.equal(statSync(join(folder, 'dir/a/b')).mode & 0o7777, 0o2775)
})

test('a folder is not made in a file or over a dangling symlink', async (t) => {
  const { root, folder } = volume(t)
  await assert.rejects(safeMakeFolder(folder, 'dir/file/a', 0o755))
  symlinkSync(join(root, 'outside/new'), join(folder, 'dangling'))
  await assert.rejects(safeMakeFolder(folder, 'dangling', 0o755), /EEXIST/)
  assert.equal(existsSync(join(root, 'outside/new')), false)
})

test('a folder that is swapped with a symlink never leads out of the volume', async (t) => {
  const { root, folder } = volume(t)
  mkdirSync(join(root, 'outside/sub'))
  writeFileSync(join(root, 'outside/sub/file'), 'secret')
  mkdirSync(join(folder, 'real/sub'), { recursive: true })
  writeFileSync(join(folder, 'real/sub/file'), 'content')
  symlinkSync('../outside', join(folder, 'evil'))
  const stop = swapping(folder)
  t.after(stop)
  for (let i = 0; i < 400; i++)
    try {
      await using handle = await safeOpen(folder, 'real/sub/file')
      assert.equal(readFileSync(handlePath(handle), 'utf8'), 'content')
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
    }
  for (let i = 0; i < 200; i++) await safeMakeFolder(folder, `real/made-${i}`, 0o755).catch(() => {})
  await stop()
  assert.equal(await opened(folder, 'real/sub/file'), join(folder, 'real/sub/file'))
  for (let i = 0; i < 200; i++) assert.equal(existsSync(join(root, `outside/made-${i}`)), false)
})
