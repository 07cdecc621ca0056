import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FakeMounter } from '../mounts/fake-mounter.fixture.ts'
import { temporaryFolder } from '../volumes.fixture.ts'
import { bindSubPath, clearSubPaths } from './sub-paths.ts'

function setUp(t: TestContext) {
  const root = temporaryFolder(t)
  const volumePath = join(root, 'volume')
  mkdirSync(join(volumePath, 'dir'), { recursive: true })
  writeFileSync(join(volumePath, 'file'), 'content')
  const subPaths = join(root, 'volume-subpaths')
  const target = (index: number) => join(subPaths, 'data', 'main', String(index))
  return { volumePath, subPaths, target, mounter: new FakeMounter() }
}

test('folders and files are bound to targets of their kind', async (t) => {
  const { volumePath, target, mounter } = setUp(t)
  await bindSubPath(mounter, { volumePath, subPath: 'dir', target: target(0) })
  await bindSubPath(mounter, { volumePath, subPath: 'file', target: target(1) })
  assert.deepEqual(mounter.requests, [
    { source: join(volumePath, 'dir'), target: target(0), options: ['bind'] },
    { source: join(volumePath, 'file'), target: target(1), options: ['bind'] },
  ])
  assert.ok(statSync(target(0)).isDirectory())
  assert.ok(statSync(target(1)).isFile())
})

test('a target that is bound to another file is bound again', async (t) => {
  const { volumePath, target, mounter } = setUp(t)
  await bindSubPath(mounter, { volumePath, subPath: 'dir', target: target(0) })
  await bindSubPath(mounter, { volumePath, subPath: 'file', target: target(0) })
  assert.deepEqual(
    mounter.mounts.map(({ source }) => source),
    [join(volumePath, 'file')],
  )
  assert.ok(statSync(target(0)).isFile())
})

test('a bind that fails can be repeated', async (t) => {
  const { volumePath, target, mounter } = setUp(t)
  mounter.failure = new Error('busy')
  await assert.rejects(bindSubPath(mounter, { volumePath, subPath: 'dir', target: target(0) }), /busy/)
  await bindSubPath(mounter, { volumePath, subPath: 'dir', target: target(0) })
  assert.deepEqual(mounter.targets, [target(0)])
})

test('all binds of a pod are removed, and their sources stay', async (t) => {
  const { volumePath, subPaths, target, mounter } = setUp(t)
  await bindSubPath(mounter, { volumePath, subPath: 'dir', target: target(0) })
  await bindSubPath(mounter, { volumePath, subPath: 'file', target: target(1) })
  await clearSubPaths(mounter, subPaths)
  assert.deepEqual(mounter.targets, [])
  assert.equal(existsSync(subPaths), false)
  assert.equal(readFileSync(join(volumePath, 'file'), 'utf8'), 'content')
  await clearSubPaths(mounter, subPaths)
})

test('a target with content is not removed', async (t) => {
  const { subPaths, target, mounter } = setUp(t)
  mkdirSync(target(0), { recursive: true })
  writeFileSync(join(target(0), 'precious'), 'x')
  await assert.rejects(clearSubPaths(mounter, subPaths), /is not empty: it is not removed/)
  assert.ok(existsSync(join(target(0), 'precious')))
})
