import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Container } from '../../pod-types.ts'
import type { MountedVolume } from '../volume-plugin.ts'
import { podUid, podWith, testNode } from '../volumes.fixture.ts'
import { containerDevices, containerMounts } from './container-mounts.ts'

type VolumeMount = NonNullable<Container['volumeMounts']>[number]

function setUp(
  t: TestContext,
  { hasSelinux = false, mounted }: { hasSelinux?: boolean; mounted?: MountedVolume } = {},
) {
  const node = testNode(t)
  const path = join(node.paths.root, 'data')
  mkdirSync(path)
  const volumes = new Map([
    ['data', { name: 'pv-data', mounted: mounted ?? { path, isReadOnly: false, isRelabeled: true } }],
  ])
  const options = {
    ...node,
    hasSelinux,
    canMountRecursivelyReadOnly: async () => true,
    image: async (_: unknown, { reference }: { reference: string }) => `sha256:${reference}`,
  }
  const mounts = (fields: Partial<VolumeMount>, environment: Record<string, string> = {}) => {
    const container = { name: 'main', volumeMounts: [{ name: 'data', mountPath: '/data', ...fields }] }
    return containerMounts(podWith([]), container, new Map(Object.entries(environment)), volumes, options)
  }
  const target = join(node.paths.root, 'pods', podUid, 'volume-subpaths/pv-data/main/0')
  return { ...node, path, mounts, target, container: 'main' }
}

const plain = { readonly: false, recursiveReadOnly: false, propagation: 0, selinuxRelabel: false }

test('a volume is mounted as requested', async (t) => {
  const { mounts, path } = setUp(t)
  assert.deepEqual(await mounts({}), [{ ...plain, containerPath: '/data', hostPath: path }])
  assert.deepEqual(await mounts({ mountPath: 'relative', readOnly: true, recursiveReadOnly: 'Enabled' }), [
    { ...plain, containerPath: '/relative', hostPath: path, readonly: true, recursiveReadOnly: true },
  ])
  assert.equal((await mounts({ mountPropagation: 'Bidirectional' }))[0]?.propagation, 2)
})

test('a read-only volume is mounted read-only, and relabeled with SELinux', async (t) => {
  const mounted = { path: '/x', isReadOnly: true, isRelabeled: true }
  const { mounts } = setUp(t, { hasSelinux: true, mounted })
  const expected = { ...plain, containerPath: '/data', hostPath: '/x', readonly: true, selinuxRelabel: true }
  assert.deepEqual(await mounts({}), [expected])
})

test('a volume that was not set up is an error', async (t) => {
  const { mounts } = setUp(t)
  await assert.rejects(mounts({ name: 'other' }), {
    message: 'cannot find volume "other" to mount into container "main"',
  })
})

test('a missing sub path becomes a folder with the mode of the volume', async (t) => {
  const { mounts, path, target, mounter } = setUp(t)
  chmodSync(path, 0o3770)
  assert.deepEqual(await mounts({ subPath: 'a/b' }), [{ ...plain, containerPath: '/data', hostPath: target }])
  assert.equal(statSync(join(path, 'a/b')).mode & 0o7777, 0o3770)
  assert.deepEqual(mounter.requests, [{ source: join(path, 'a/b'), target, options: ['bind'] }])
})

test('variables in a sub path are expanded, and must have a value', async (t) => {
  const { mounts, path, mounter } = setUp(t)
  await mounts({ subPathExpr: '$(POD)/$$(X)' }, { POD: 'web-0' })
  assert.equal(mounter.requests[0]?.source, join(path, 'web-0/$(X)'))
  await assert.rejects(mounts({ subPathExpr: '$(B)$(A)$(E)' }, { E: '' }), { message: 'missing value for A, B, E' })
})

test('a sub path cannot leave the volume, and its message reveals nothing', async (t) => {
  const { mounts, path, lines, mounter } = setUp(t)
  await assert.rejects(mounts({ subPath: '/etc' }), { message: 'error SubPath `/etc` must not be an absolute path' })
  await assert.rejects(mounts({ subPath: 'a/../..' }), {
    message: "unable to provision SubPath `a/../..`: must not contain '..'",
  })
  await assert.rejects(mounts({ subPathExpr: '$(A)' }, { A: '..' }), /must not contain/)
  symlinkSync('/etc', join(path, 'link'))
  await assert.rejects(mounts({ subPath: 'link/hostname' }), {
    message: 'failed to prepare subPath for volumeMount "data" of container "main"',
  })
  await assert.rejects(mounts({ subPath: 'link/typernetes-test' }), {
    message: 'failed to create subPath directory for volumeMount "data" of container "main"',
  })
  assert.equal(existsSync('/etc/typernetes-test'), false)
  assert.match(lines.join('\n'), /is outside of allowed base/)
  assert.deepEqual(mounter.requests, [])
})

test('an image is mounted by the runtime', async (t) => {
  const { mounts } = setUp(t, { mounted: { image: { reference: 'registry.test/data:1' } } })
  assert.deepEqual(await mounts({ subPath: 'dir' }), [
    {
      containerPath: '/data',
      readonly: true,
      image: { image: 'sha256:registry.test/data:1', userSpecifiedImage: 'registry.test/data:1' },
      imageSubPath: 'dir',
    },
  ])
})

test('devices are passed as they are', () => {
  const device = (isReadOnly: boolean) =>
    new Map([['disk', { name: 'pv', mounted: { device: '/dev/sdb', isReadOnly } }]])
  const container = (devicePath: string, name = 'disk') => ({ name: 'main', volumeDevices: [{ name, devicePath }] })
  assert.deepEqual(containerDevices(container('/dev/x'), device(false)), [
    { containerPath: '/dev/x', hostPath: '/dev/sdb', permissions: 'mrw' },
  ])
  assert.equal(containerDevices(container('/dev/x'), device(true))[0]?.permissions, 'r')
  assert.throws(() => containerDevices(container('x'), device(true)), {
    message: 'error DevicePath `x` must be an absolute path',
  })
  assert.throws(() => containerDevices(container('/x', 'other'), device(true)), {
    message: 'cannot find volume "other" to pass into container "main"',
  })
})
