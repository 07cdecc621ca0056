import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needsRoot, persistentVolume, podUid, podWith, temporaryFolder, testNode } from '../../volumes.fixture.ts'
import { LocalPlugin } from './local.ts'

function setUp(t: TestContext) {
  const node = testNode(t)
  const source = join(temporaryFolder(t), 'disk')
  mkdirSync(source)
  writeFileSync(join(source, 'file'), 'content')
  const events: string[] = []
  const record = (_: unknown, event: { reason: string; message: string }) =>
    void events.push(`${event.reason} ${event.message}`)
  const run = async () => ({ code: 0, output: '' })
  const plugin = new LocalPlugin({ ...node, record, run })
  // The fake mounter knows no file system: a source is mounted from itself.
  node.mounter.mounts.push({
    target: '/',
    root: '/',
    device: '0:1',
    type: 'ext4',
    source: '',
    isReadOnly: false,
    options: [],
  })
  const request = (path = source, { isReadOnly = false, pod = podWith([]), fields = {} } = {}) => ({
    pod,
    spec: {
      podName: 'data',
      name: 'pv-data',
      persistentVolume: persistentVolume('data', { local: { path }, ...fields }),
      isReadOnly,
    },
    folder: node.paths.volume(pod.metadata.uid ?? '', plugin.name, 'pv-data'),
  })
  return { ...node, source, events, plugin, request }
}

test('the folder is bound to the pod, once', async (t) => {
  const { plugin, request, mounter, source } = setUp(t)
  const one = request(source, { fields: { mountOptions: ['noatime'] } })
  assert.deepEqual(await plugin.setUp(one), { path: one.folder, isReadOnly: false, isRelabeled: true })
  await plugin.setUp(one)
  assert.deepEqual(mounter.requests, [{ source, target: one.folder, options: ['bind', 'noatime'] }])
})

test('a claim may be read-only', async (t) => {
  const { plugin, request, mounter, source } = setUp(t)
  const mounted = await plugin.setUp(request(source, { isReadOnly: true }))
  assert.deepEqual(mounter.requests[0]?.options, ['bind', 'ro'])
  assert.ok('isRelabeled' in mounted && mounted.isReadOnly && !mounted.isRelabeled)
})

test('a missing path and a file are errors of the volume', async (t) => {
  const { plugin, request, source } = setUp(t)
  const step = 'MountVolume.NewMounter initialization failed'
  await assert.rejects(plugin.setUp(request('/no/where')), { step, message: 'path "/no/where" does not exist' })
  await assert.rejects(plugin.setUp(request(join(source, 'file'))), {
    step,
    message: 'only directory and block device are supported',
  })
})

test('the first pod sets the group, a later one only records a difference', { skip: needsRoot }, async (t) => {
  const { plugin, request, source, events } = setUp(t)
  const withGroup = (fsGroup: number, uid: string) => {
    const pod = podWith([], { securityContext: { fsGroup } })
    return { ...pod, metadata: { ...pod.metadata, uid } }
  }
  // The fake mounter does not bind: the folder of the pod stands for the source.
  const first = request(source, { pod: withGroup(1234, 'a') })
  await plugin.setUp(first)
  const { gid, mode } = statSync(first.folder)
  assert.deepEqual([gid, mode & 0o7777], [1234, 0o2770])
  chownSync(source, -1, 1234)
  await plugin.setUp(request(source, { pod: withGroup(1234, 'b') }))
  assert.deepEqual(events, [])
  const third = request(source, { pod: withGroup(4321, 'c') })
  await plugin.setUp(third)
  assert.deepEqual(events, [
    'AlreadyMountedVolume The requested fsGroup is 4321, but the volume pv-data has GID 1234. ' +
      'The volume may not be shareable.',
  ])
  assert.notEqual(statSync(third.folder).gid, 4321)
})

test('a failed bind leaves no folder', async (t) => {
  const { plugin, request, mounter } = setUp(t)
  mounter.failure = new Error('mount failed: exit status 32')
  await assert.rejects(plugin.setUp(request()), /exit status 32/)
  assert.equal(existsSync(request().folder), false)
})

test('the content stays when the volume is removed', async (t) => {
  const { plugin, request, mounter, source } = setUp(t)
  await plugin.setUp(request())
  await plugin.tearDown({ uid: podUid, name: 'pv-data', path: request().folder })
  assert.deepEqual(mounter.targets, ['/'])
  assert.equal(existsSync(request().folder), false)
  assert.equal(readFileSync(join(source, 'file'), 'utf8'), 'content')
})

test('a volume of mode Block is a device', async (t) => {
  const { plugin, request, source } = setUp(t)
  const fields = { volumeMode: 'Block' }
  await assert.rejects(plugin.setUp(request(source, { fields })), {
    step: 'MapVolume.SetUpDevice failed',
    message: `path "${source}" is not a block device`,
  })
  if (existsSync('/dev/loop0'))
    assert.deepEqual(await plugin.setUp(request('/dev/loop0', { fields, isReadOnly: true })), {
      device: '/dev/loop0',
      isReadOnly: true,
    })
})
