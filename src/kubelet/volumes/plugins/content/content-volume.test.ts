import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Volume } from '../../volume-plugin.ts'
import {
  configMap,
  needsRoot,
  podFields,
  podUid,
  podWith,
  requestFor,
  secret,
  TestObjects,
  testNode,
} from '../../volumes.fixture.ts'
import { configMapKind, downwardApiKind, secretKind } from './content-kinds.ts'
import { contentVolume } from './content-volume.ts'

function setUp(t: TestContext, volume: Volume, objects = new TestObjects(), spec = {}) {
  const node = testNode(t)
  const kinds = [configMapKind(objects), secretKind(objects), downwardApiKind(podFields)]
  const pod = podWith([volume], spec)
  const kind = kinds.find((one) => one.supports({ podName: '', name: '', volume, isReadOnly: false }))!
  const plugin = contentVolume(kind, node)
  const request = requestFor(node.paths, plugin, pod)
  const read = (path: string) => readFileSync(join(request.folder, path), 'utf8')
  return { ...node, objects, plugin, request, folder: request.folder, read, run: () => plugin.setUp(request) }
}

test('a configMap is on disk and follows its object', async (t) => {
  const objects = new TestObjects(configMap('settings', { a: '1', b: '2' }))
  const { run, read, folder, mounter, paths } = setUp(t, { name: 'cfg', configMap: { name: 'settings' } }, objects)
  assert.deepEqual(await run(), { path: folder, isReadOnly: true, isRelabeled: true })
  assert.equal(folder, join(paths.root, 'pods', podUid, 'volumes/kubernetes.io~configmap/cfg'))
  assert.equal(statSync(folder).mode & 0o777, 0o777)
  assert.equal(read('a'), '1')
  const version = readlinkSync(join(folder, '..data'))
  await run()
  assert.equal(readlinkSync(join(folder, '..data')), version)
  objects.set(configMap('settings', { a: '3' }))
  await run()
  assert.equal(read('a'), '3')
  assert.equal(existsSync(join(folder, 'b')), false)
  assert.deepEqual(mounter.requests, [])
})

test('a secret and the downward API are in memory', async (t) => {
  const objects = new TestObjects(secret('keys', { key: 'x' }))
  const volume = { name: 'keys', secret: { secretName: 'keys', defaultMode: 0o400 } }
  const { run, read, folder, mounter } = setUp(t, volume, objects)
  await run()
  await run()
  assert.deepEqual(mounter.requests, [{ source: 'tmpfs', target: folder, type: 'tmpfs', options: ['size=1000000'] }])
  assert.equal(read('key'), 'x')
  assert.equal(statSync(join(folder, 'key')).mode & 0o777, 0o400)
  const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }]
  const downward = setUp(t, { name: 'info', downwardAPI: { items } })
  await downward.run()
  assert.equal(downward.read('labels'), '{"app":"web"}')
  assert.equal(downward.mounter.requests.length, 1)
})

test('a missing object is an error, and nothing is made', async (t) => {
  const { run, folder } = setUp(t, { name: 'cfg', configMap: { name: 'settings' } })
  await assert.rejects(run(), { message: 'configmap "settings" not found' })
  assert.equal(existsSync(folder), false)
  const other = setUp(t, { name: 'keys', secret: { secretName: 'keys' } })
  await assert.rejects(other.run(), { message: 'secret "keys" not found' })
  assert.deepEqual(other.mounter.requests, [])
})

test('an optional object may come and go', async (t) => {
  const { run, folder, objects } = setUp(t, { name: 'cfg', configMap: { name: 'settings', optional: true } })
  const visible = () => readdirSync(folder).filter((name) => !name.startsWith('..'))
  await run()
  assert.deepEqual(visible(), [])
  objects.set(configMap('settings', { a: '1' }))
  await run()
  assert.deepEqual(visible(), ['a'])
  objects.remove('ConfigMap', 'settings')
  await run()
  assert.deepEqual(visible(), [])
})

test('files belong to the fsGroup before they are visible', { skip: needsRoot }, async (t) => {
  const objects = new TestObjects(configMap('settings', { a: '1' }))
  const volume = { name: 'cfg', configMap: { name: 'settings', defaultMode: 0o400 } }
  const { run, folder, lines } = setUp(t, volume, objects, { securityContext: { fsGroup: 1234 } })
  await run()
  const shown = (path: string) => {
    const { gid, mode } = statSync(join(folder, path))
    return `${gid} ${(mode & 0o7777).toString(8)}`
  }
  assert.deepEqual([shown('a'), shown('..data/'), shown('.')], ['1234 440', '1234 2755', '1234 2777'])
  assert.deepEqual(lines, [])
})

test('mount points of other volumes are made', async (t) => {
  const volumeMounts = [
    { name: 'cfg', mountPath: '/etc/app' },
    { name: 'other', mountPath: '/etc/app/keys' },
  ]
  const objects = new TestObjects(configMap('settings', { a: '1' }))
  const spec = { containers: [{ name: 'main', volumeMounts }] }
  const { run, folder } = setUp(t, { name: 'cfg', configMap: { name: 'settings' } }, objects, spec)
  await run()
  assert.ok(statSync(join(folder, 'keys')).isDirectory())
})

test('the volume is removed', async (t) => {
  const { run, folder, plugin, mounter } = setUp(t, { name: 'keys', secret: { secretName: 'keys', optional: true } })
  await run()
  await plugin.tearDown({ uid: podUid, name: 'keys', path: folder })
  assert.equal(existsSync(folder), false)
  assert.deepEqual(mounter.targets, [])
})
