import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ImageStore } from '../store/image-store.ts'
import { storeImage } from '../store/stored-image.fixture.ts'
import { LayeredSnapshots } from './layered-snapshots.ts'
import { isMountPoint } from './linux-mounts.ts'
import { chooseDriver, type DriverName } from './snapshot-driver.ts'

const skip = process.geteuid?.() === 0 ? false : 'needs root'
const hasFuse = spawnSync('fuse-overlayfs', ['--version']).status === 0 && existsSync('/dev/fuse')

async function setUp(t: TestContext, driver?: DriverName) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-snapshots-'))
  const store = new ImageStore(folder)
  const snapshots = await LayeredSnapshots.open({ store, driver })
  t.after(async () => {
    for (const id of snapshots.list()) await snapshots.remove(id)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })
  return { store, snapshots }
}

const lower = [
  ['etc/passwd', 'root'],
  ['etc/old', 'old'],
  ['opt/a/one', '1'],
  ['tmp', '', { type: 'directory', mode: 0o1777 }],
  ['su', 'su', { mode: 0o4755, uid: 3 }],
] as const
const upper = [['etc/.wh.old'], ['opt/.wh..wh..opq'], ['opt/two', '2'], ['tmp/file', 'x']] as const

test('an image may have 127 layers', { skip }, async (t) => {
  const { store, snapshots } = await setUp(t, 'overlay')
  const layers = Array.from({ length: 127 }, (_, number) => [[`file-${number}`, String(number)]] as const)
  const image = await storeImage(store, 'docker.io/library/deep:1', layers)
  await snapshots.prepare('deep', image)
  const root = await snapshots.mount('deep')
  assert.equal(readdirSync(root).length, 127)
  assert.equal(readFileSync(join(root, 'file-0'), 'utf8'), '0')
  writeFileSync(join(root, 'file-0'), 'changed')
})

for (const driver of ['overlay', 'user-overlay', 'fuse-overlayfs', 'copy'] as const)
  test(`a root file system by ${driver} shows the layers, and takes changes`, {
    skip: skip || (driver === 'fuse-overlayfs' && !hasFuse && 'fuse-overlayfs is not installed'),
  }, async (t) => {
    const { store, snapshots } = await setUp(t, driver)
    const image = await storeImage(store, 'docker.io/library/web:1', [lower, upper])
    await snapshots.prepare('one', image)
    await snapshots.prepare('one', image)
    const root = await snapshots.mount('one')
    assert.equal(await snapshots.mount('one'), root)
    const list = execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P %m %U\\n'], {
      cwd: root,
      encoding: 'utf8',
    })
    assert.deepEqual(list.trim().split('\n').sort(), [
      'etc 755 0',
      'etc/passwd 644 0',
      'opt 755 0',
      'opt/two 644 0',
      'su 4755 3',
      'tmp 1777 0',
      'tmp/file 644 0',
    ])
    assert.equal(statSync(root).mode & 0o7777, 0o755)
    writeFileSync(join(root, 'etc/passwd'), 'changed')
    rmSync(join(root, 'su'))
    await snapshots.prepare('two', image)
    const other = await snapshots.mount('two')
    assert.equal(readFileSync(join(other, 'etc/passwd'), 'utf8'), 'root')
    const before = (await snapshots.usage('two')).bytes
    writeFileSync(join(other, 'large'), Buffer.alloc(100_000, 1))
    assert.ok((await snapshots.usage('two')).bytes - before >= 100_000)
    // A reboot takes the mount, but not the changes.
    await snapshots.unmount('one')
    assert.ok(!isMountPoint(root))
    assert.equal(readFileSync(join(await snapshots.mount('one'), 'etc/passwd'), 'utf8'), 'changed')
    await snapshots.remove('one')
    await snapshots.remove('one')
    assert.deepEqual(snapshots.list(), ['two'])
  })

test('the driver of root is overlayfs', { skip }, async (t) => {
  const { store } = await setUp(t)
  assert.equal(await chooseDriver(store.paths), 'overlay')
  assert.deepEqual(
    readdirSync(store.paths.root).filter((name) => name.startsWith('probe-')),
    [],
  )
})

test('a read-only root file system takes no changes', { skip }, async (t) => {
  const { store, snapshots } = await setUp(t)
  for (const [id, layers] of [
    ['one', [lower]],
    ['two', [lower, upper]],
  ] as const) {
    const image = await storeImage(store, `docker.io/library/${id}:1`, layers)
    await snapshots.prepare(id, image, { isReadOnly: true })
    const root = await snapshots.mount(id)
    assert.equal(readFileSync(join(root, 'etc/passwd'), 'utf8'), 'root')
    assert.throws(() => writeFileSync(join(root, 'file'), 'x'), { code: 'EROFS' })
  }
})

test('layers outlive their image until the last container has been removed', { skip }, async (t) => {
  const { store, snapshots } = await setUp(t)
  const image = await storeImage(store, 'docker.io/library/web:1', [lower, upper])
  await snapshots.prepare('one', image)
  await store.remove('web:1')
  assert.equal(readdirSync(store.paths.blobs).length, 0)
  assert.equal(readFileSync(join(await snapshots.mount('one'), 'etc/passwd'), 'utf8'), 'root')
  await snapshots.remove('one')
  assert.equal((await store.collectGarbage()).layers, 2)
  assert.deepEqual(
    ['layers', 'unfinished', 'trash'].map((name) => {
      const path = join(store.paths.root, name)
      return existsSync(path) ? readdirSync(path) : []
    }),
    [[], [], []],
  )
})

test('an image with many layers is unpacked once by all that want it', { skip }, async (t) => {
  const { store, snapshots } = await setUp(t)
  const other = await LayeredSnapshots.open({ store: new ImageStore(store.paths.root) })
  // Each layer needs the one below: its folder has no entry of its own, and its link leads there.
  const layers = Array.from({ length: 20 }, (_, i) => [
    ...(i === 0 ? [['shared', '', { type: 'directory', mode: 0o750, uid: 9 }] as const] : []),
    [`shared/file${i}`, 'x'.repeat(10_000)] as const,
    ...(i > 0 ? [[`shared/hard${i}`, '', { type: 'hard-link', linkName: `shared/file${i - 1}` }] as const] : []),
  ])
  const image = await storeImage(store, 'docker.io/library/web:1', layers)
  await Promise.all([...'abcd'].map((id, i) => (i % 2 ? snapshots : other).prepare(id, image)))
  const root = await snapshots.mount('a')
  assert.equal(readdirSync(join(root, 'shared')).length, 39)
  const { mode, uid } = statSync(join(root, 'shared'))
  assert.deepEqual([mode & 0o7777, uid], [0o750, 9])
  assert.equal(readdirSync(store.paths.layers).length, 20)
  assert.deepEqual(readdirSync(store.paths.unfinished), [])
})

test('a damaged layer is an error, and leaves nothing', { skip }, async (t) => {
  const { store, snapshots } = await setUp(t)
  const image = await storeImage(store, 'docker.io/library/web:1', [lower, upper])
  const first = store.blobs.path(image.layers[0]!.digest)
  const bytes = readFileSync(first)
  writeFileSync(first, readFileSync(store.blobs.path(image.layers[1]!.digest)))
  await assert.rejects(snapshots.prepare('one', image), {
    code: 'FailedPrecondition',
    message: /failed to extract layer sha256:\w+: wrong diff id calculated on extraction/,
  })
  assert.deepEqual([snapshots.list(), readdirSync(store.paths.unfinished)], [[], []])
  writeFileSync(first, bytes)
  await snapshots.prepare('one', image)
})

test('an aborted unpack leaves nothing, and the next one succeeds', { skip }, async (t) => {
  const { store, snapshots } = await setUp(t)
  const image = await storeImage(store, 'docker.io/library/web:1', [lower, upper])
  const abort = new AbortController()
  const prepare = snapshots.prepare('one', image, { signal: abort.signal })
  abort.abort()
  await assert.rejects(prepare, { code: 'Canceled' })
  assert.deepEqual([snapshots.list(), readdirSync(store.paths.unfinished)], [[], []])
  await snapshots.prepare('one', image)
})

test('layers that an earlier boot has not written to the disk are unpacked once more', { skip }, async (t) => {
  const { store, snapshots } = await setUp(t)
  const image = await storeImage(store, 'docker.io/library/web:1', [lower])
  await snapshots.unpack(image)
  const [name] = readdirSync(store.paths.layers)
  const folder = join(store.paths.layers, name!)
  const record = join(folder, 'layer.json')
  // It names the boot until the files are on the disk.
  while (readFileSync(record, 'utf8').includes('boot')) await delay(10)
  writeFileSync(record, JSON.stringify({ format: 'overlay', bytes: 0, boot: 'earlier' }))
  writeFileSync(join(folder, 'fs/etc/passwd'), '')
  await snapshots.unpack(image)
  assert.equal(readFileSync(join(folder, 'fs/etc/passwd'), 'utf8'), 'root')
})

for (const id of ['', '..', 'a/b', '.x'])
  test(`${JSON.stringify(id)} is no ID of a root file system`, async (t) => {
    const { store, snapshots } = await setUp(t, 'copy')
    const image = await storeImage(store, 'docker.io/library/web:1', [lower])
    await assert.rejects(snapshots.prepare(id, image), { code: 'InvalidArgument' })
  })
