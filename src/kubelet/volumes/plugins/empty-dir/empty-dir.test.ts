import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needsRoot, podUid, podWith, requestFor, testNode } from '../../volumes.fixture.ts'
import { emptyDirPlugin, pageSize } from './empty-dir.ts'
import { knowsNoSwap, MemoryFolders } from './memory-folders.ts'

function setUp(t: TestContext) {
  const node = testNode(t)
  const plugin = emptyDirPlugin(node)
  const request = (emptyDir: object, spec = {}) =>
    requestFor(node.paths, plugin, podWith([{ name: 'data', emptyDir }], spec))
  return { ...node, plugin, request }
}

test('every user may write to a folder on disk', async (t) => {
  const { plugin, request, paths } = setUp(t)
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  const { folder } = request({})
  assert.deepEqual(await plugin.setUp(request({})), { path: folder, isReadOnly: false, isRelabeled: true })
  assert.equal(folder, join(paths.root, 'pods', podUid, 'volumes/kubernetes.io~empty-dir/data'))
  assert.equal(statSync(folder).mode & 0o7777, 0o777)
})

test('a folder belongs to the fsGroup', { skip: needsRoot }, async (t) => {
  const { plugin, request } = setUp(t)
  const withGroup = request({}, { securityContext: { fsGroup: 1234 } })
  await plugin.setUp(withGroup)
  const { gid, mode } = statSync(withGroup.folder)
  assert.deepEqual([gid, mode & 0o7777], [1234, 0o2777])
})

test('a volume that was set up stays as containers have changed it', async (t) => {
  const { plugin, request, paths } = setUp(t)
  const { folder } = request({})
  await plugin.setUp(request({}))
  assert.ok(existsSync(join(paths.root, 'pods', podUid, 'plugins/kubernetes.io~empty-dir/data/ready')))
  chmodSync(folder, 0o700)
  await plugin.setUp(request({}))
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  rmSync(folder, { recursive: true })
  await plugin.setUp(request({}))
  assert.equal(statSync(folder).mode & 0o777, 0o777)
})

const limited = (memory: string) => ({ resources: { limits: { memory } } })

for (const [title, emptyDir, containers, options] of [
  ['the memory of the node', {}, [{ name: 'a' }], ['size=1000000']],
  ['its own', { sizeLimit: '64k' }, [{ name: 'a' }], ['size=64000']],
  ['that of the pod', { sizeLimit: '900k' }, [{ name: 'a', ...limited('500k') }], ['size=500000']],
  ['its own below that of the pod', { sizeLimit: '9k' }, [{ name: 'a', ...limited('500k') }], ['size=9000']],
  ['no more than the node has', { sizeLimit: '9M' }, [{ name: 'a', ...limited('5M') }], ['size=1000000']],
] as const)
  test(`the limit of a folder in memory: ${title}`, async (t) => {
    const { plugin, request, mounter } = setUp(t)
    const one = request({ medium: 'Memory', ...emptyDir }, { containers })
    await plugin.setUp(one)
    assert.deepEqual(mounter.requests, [{ source: 'tmpfs', target: one.folder, type: 'tmpfs', options }])
    await plugin.setUp(one)
    assert.equal(mounter.requests.length, 1)
  })

test('a folder in memory is mounted again after a reboot of the node', async (t) => {
  const { plugin, request, mounter } = setUp(t)
  await plugin.setUp(request({ medium: 'Memory' }))
  mounter.mounts.length = 0
  await plugin.setUp(request({ medium: 'Memory' }))
  assert.equal(mounter.mounts.length, 1)
})

test('a folder in memory is not swapped out if the kernel can see to that', async (t) => {
  const { mounter, paths } = testNode(t)
  const memory = new MemoryFolders({ mounter, allocatableMemory: () => 0n, canDisableSwap: true })
  mkdirSync(paths.root, { recursive: true })
  await memory.mount(join(paths.root, 'a'), [5n])
  await memory.mount(join(paths.root, 'b'), [])
  assert.deepEqual(
    mounter.requests.map(({ options }) => options),
    [['noswap'], ['noswap']],
  )
  assert.deepEqual(['6.1.0-56-cloud', '6.4.0', '5.15.1', '7.0-rc1'].map(knowsNoSwap), [false, true, false, true])
})

test("huge pages are mounted with their size, and a failure of the kernel is the volume's", async (t) => {
  const { plugin, request, mounter } = setUp(t)
  const containers = [{ name: 'a', resources: { requests: { 'hugepages-2Mi': '4Mi' } } }]
  const one = request({ medium: 'HugePages-2Mi' }, { containers })
  mounter.failure = new Error('unknown filesystem type')
  await assert.rejects(plugin.setUp(one), /unknown filesystem type/)
  await plugin.setUp(one)
  assert.deepEqual(mounter.requests[0]?.options, ['pagesize=2Mi'])
})

test('the page size must be requested, and be one', () => {
  const pod = (...sizes: string[]) =>
    podWith([], {
      containers: sizes.map((size) => ({ name: size, resources: { requests: { [`hugepages-${size}`]: '1Gi' } } })),
    })
  assert.equal(pageSize('HugePages', pod('2Mi')), '2Mi')
  assert.equal(pageSize('HugePages-1Gi', pod('2Mi', '1Gi')), '1Gi')
  assert.throws(() => pageSize('HugePages', pod('2Mi', '1Gi')), {
    message: "medium: HugePages can't be used if container requests multiple huge page sizes",
  })
  assert.throws(() => pageSize('HugePages-1Gi', pod('2Mi')), {
    message: 'medium HugePages-1Gi: hugePages storage requested, but there is no resource request for huge pages',
  })
})

test('an unknown medium is an error', async (t) => {
  const { plugin, request } = setUp(t)
  await assert.rejects(plugin.setUp(request({ medium: 'Tape' })), { message: 'unknown storage medium "Tape"' })
})

test('the volume is removed with its content, mounts and notes', async (t) => {
  const { plugin, request, mounter, paths } = setUp(t)
  const { folder } = request({})
  await plugin.setUp(request({ medium: 'Memory' }))
  writeFileSync(join(folder, 'file'), 'x')
  await plugin.tearDown({ uid: podUid, name: 'data', path: folder })
  assert.deepEqual(mounter.targets, [])
  assert.equal(existsSync(folder), false)
  assert.equal(existsSync(join(paths.pod(podUid), 'plugins')), false)
  await plugin.tearDown({ uid: podUid, name: 'data', path: folder })
})
