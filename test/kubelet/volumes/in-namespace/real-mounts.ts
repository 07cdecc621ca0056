/** The volumes of pods with real mounts. Runs in a mount namespace of its own (`volumes.test.ts`). */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Pod } from '../../../../src/client/kinds.ts'
import { linuxMounter } from '../../../../src/kubelet/volumes/mounts/linux-mounter.ts'
import { mountsWithin } from '../../../../src/kubelet/volumes/mounts/mount-table.ts'
import { runProgram } from '../../../../src/kubelet/volumes/mounts/run-program.ts'
import { knowsNoSwap } from '../../../../src/kubelet/volumes/plugins/empty-dir/memory-folders.ts'
import { PodVolumes } from '../../../../src/kubelet/volumes/pod-volumes.ts'
import { swapping } from '../../../../src/kubelet/volumes/sub-paths/swapping.fixture.ts'
import { VolumePaths } from '../../../../src/kubelet/volumes/volume-paths.ts'
import type { Volume } from '../../../../src/kubelet/volumes/volume-plugin.ts'
import { volumePlugins } from '../../../../src/kubelet/volumes/volume-plugins.ts'
import {
  claim,
  configMap,
  persistentVolume,
  podFields,
  podUid,
  podWith,
  secret,
  TestObjects,
} from '../../../../src/kubelet/volumes/volumes.fixture.ts'

const tmpfsMagic = 0x01021994

/** A kubelet with an API of its own. The folder `disk` has a file and stands for the disk of a local volume. */
function setUp(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'real-mounts-'))
  const within = async (path: string) => mountsWithin(await linuxMounter.list(), path).map(({ target }) => target)
  t.after(async () => {
    for (const target of await within(root)) await linuxMounter.unmount(target)
    rmSync(root, { recursive: true })
  })
  const disk = join(root, 'disk')
  mkdirSync(disk)
  writeFileSync(join(disk, 'file'), 'content')
  const objects = new TestObjects(
    configMap('settings', { a: 'old', b: 'same' }),
    secret('keys', { key: 'x' }),
    claim('data'),
    persistentVolume('data', { local: { path: disk } }),
  )
  const log: string[] = []
  const options = {
    paths: new VolumePaths(join(root, 'kubelet')),
    mounter: linuxMounter,
    run: runProgram,
    objects,
    tokens: { token: async () => 'token' },
    certificates: { bundle: async () => ({ key: '', chain: '' }) },
    fields: podFields,
    allocatableMemory: () => 64n << 20n,
    canDisableSwap: knowsNoSwap(release()),
    record: (_: Pod, { message }: { message: string }) => void log.push(message),
    log: (line: string) => void log.push(line),
    node: () => ({ metadata: { name: 'n1' } }),
    image: async () => '',
    canMountRecursivelyReadOnly: async () => false,
    hasSelinux: false,
    now: () => 0,
  }
  /** Another one with the same folder is the kubelet after a restart. */
  const kubelet = () => new PodVolumes({ ...options, plugins: volumePlugins(options) })
  return { root, disk, objects, log, kubelet, volumes: kubelet(), mounts: () => within(join(root, 'kubelet')) }
}

/** The host path of the first mount of a pod's container. */
async function hostPath(volumes: PodVolumes, pod: Pod): Promise<string> {
  const [mount] = await volumes.mountsOf(pod, pod.spec!.containers[0]!, new Map())
  return mount!.hostPath!
}

const withSubPath = (volume: Volume, subPath: string): Pod =>
  podWith([volume], { containers: [{ name: 'main', volumeMounts: [{ name: volume.name, mountPath: '/x', subPath }] }] })

const claimed = (readOnly: boolean): Volume => ({
  name: 'data',
  persistentVolumeClaim: { claimName: 'data', readOnly },
})
const scratch: Volume = { name: 'scratch', emptyDir: {} }
const cfg: Volume = { name: 'cfg', configMap: { name: 'settings' } }

test('an emptyDir in memory has its size', async (t) => {
  const { volumes, mounts } = setUp(t)
  const pod = podWith([{ name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }])
  await volumes.mount(pod)
  const folder = await hostPath(volumes, pod)
  assert.equal(statfsSync(folder).type, tmpfsMagic)
  assert.equal(statSync(folder).mode & 0o777, 0o777)
  writeFileSync(join(folder, 'small'), Buffer.alloc(1 << 19))
  assert.throws(() => writeFileSync(join(folder, 'large'), Buffer.alloc(1 << 20)), { code: 'ENOSPC' })
  await volumes.unmount(podUid)
  assert.deepEqual(await mounts(), [])
  assert.equal(existsSync(folder), false)
})

test('a secret is never on disk, and belongs to the fsGroup', async (t) => {
  const { volumes, kubelet, mounts } = setUp(t)
  const volume = { name: 'keys', secret: { secretName: 'keys', defaultMode: 0o400 } }
  const pod = podWith([volume], { securityContext: { fsGroup: 1234 } })
  await volumes.mount(pod)
  const folder = await hostPath(volumes, pod)
  assert.equal(statfsSync(folder).type, tmpfsMagic)
  const { gid, mode } = statSync(join(folder, 'key'))
  assert.deepEqual([gid, mode & 0o777], [1234, 0o440])
  await volumes.mount(pod)
  await kubelet().mount(pod)
  assert.equal((await mounts()).length, 1)
})

test('huge pages are mounted, or the message of the kernel is in the event', async (t) => {
  const { volumes, log } = setUp(t)
  const resources = { requests: { 'hugepages-2Mi': '2Mi' }, limits: { 'hugepages-2Mi': '2Mi' } }
  const containers = [{ name: 'main', resources, volumeMounts: [{ name: 'huge', mountPath: '/huge' }] }]
  const outcome = await volumes
    .mount(podWith([{ name: 'huge', emptyDir: { medium: 'HugePages-2Mi' } }], { containers }))
    .catch((error: Error) => error)
  if (outcome) assert.match(outcome.message, /^MountVolume.SetUp failed for volume "huge" : mount failed: exit status/)
  assert.equal(log.length, outcome ? 1 : 0)
})

test('a local volume is bound, and its content stays', async (t) => {
  const { volumes, kubelet, disk, mounts } = setUp(t)
  const pod = podWith([claimed(false)], { securityContext: { fsGroup: 1234 } })
  await volumes.mount(pod)
  await kubelet().mount(pod)
  assert.equal((await mounts()).length, 1)
  const folder = await hostPath(volumes, pod)
  assert.equal(readFileSync(join(folder, 'file'), 'utf8'), 'content')
  assert.equal(statSync(join(disk, 'file')).gid, 1234)
  await kubelet().unmount(podUid)
  assert.equal(existsSync(folder), false)
  assert.deepEqual(await mounts(), [])
  assert.equal(readFileSync(join(disk, 'file'), 'utf8'), 'content')
})

test('nobody writes to a local volume whose claim is read-only', async (t) => {
  const { volumes } = setUp(t)
  const pod = podWith([claimed(true)])
  await volumes.mount(pod)
  const folder = await hostPath(volumes, pod)
  assert.throws(() => writeFileSync(join(folder, 'new'), ''), { code: 'EROFS' })
})

test('a second pod does not change the group of a local volume', async (t) => {
  const { volumes, disk, log } = setUp(t)
  const first = podWith([claimed(false)], { securityContext: { fsGroup: 1234 } })
  const second = podWith([claimed(false)], { securityContext: { fsGroup: 4321 } })
  second.metadata.uid = 'second'
  await volumes.mount(first)
  await volumes.mount(second)
  assert.equal(statSync(disk).gid, 1234)
  assert.deepEqual(log, [
    'The requested fsGroup is 4321, but the volume pv-data has GID 1234. The volume may not be shareable.',
  ])
})

const loopProblem = existsSync('/dev/loop-control') ? false : 'needs loop devices'

test('the file system of a device is made once, and mounted while pods use it', { skip: loopProblem }, async (t) => {
  const { volumes, kubelet, objects, root, mounts } = setUp(t)
  const image = join(root, 'image')
  writeFileSync(image, Buffer.alloc(8 << 20))
  const device = execFileSync('losetup', ['-f', '--show', image], { encoding: 'utf8' }).trim()
  try {
    objects.set(persistentVolume('data', { local: { path: device } }))
    const first = podWith([claimed(false)], { securityContext: { fsGroup: 1234 } })
    const second = podWith([claimed(true)])
    second.metadata.uid = 'second'
    await volumes.mount(first)
    await volumes.mount(second)
    const folder = await hostPath(volumes, first)
    assert.equal(statSync(folder).gid, 1234)
    writeFileSync(join(folder, 'file'), 'content')
    assert.equal(readFileSync(join(await hostPath(volumes, second), 'file'), 'utf8'), 'content')
    assert.equal((await mounts()).length, 3)
    await volumes.unmount(podUid)
    assert.equal((await mounts()).length, 2)
    await kubelet().unmount('second')
    assert.deepEqual(await mounts(), [])
    // The device has a file system now, which stays.
    await volumes.mount(first)
    assert.equal(readFileSync(join(await hostPath(volumes, first), 'file'), 'utf8'), 'content')
    await volumes.unmount(podUid)
  } finally {
    execFileSync('losetup', ['-d', device])
  }
})

test('a sub path is bound once, and follows an update at the next start of the container', async (t) => {
  const { volumes, objects, mounts, kubelet } = setUp(t)
  const pod = withSubPath(cfg, 'a')
  await volumes.mount(pod)
  const target = await hostPath(volumes, pod)
  assert.equal(readFileSync(target, 'utf8'), 'old')
  await hostPath(volumes, pod)
  assert.equal((await mounts()).length, 1)
  objects.set(configMap('settings', { a: 'new' }))
  await volumes.refresh(pod)
  // A running container has the old file.
  assert.equal(readFileSync(target, 'utf8'), 'old')
  assert.equal(readFileSync(await hostPath(volumes, pod), 'utf8'), 'new')
  assert.equal((await mounts()).length, 1)
  await kubelet().unmount(podUid)
  assert.deepEqual(await mounts(), [])
  assert.equal(existsSync(target), false)
})

test('a sub path never leads out of the volume, also if it is swapped with a symlink', async (t) => {
  const { volumes, disk, root } = setUp(t)
  mkdirSync(join(root, 'outside/sub'), { recursive: true })
  writeFileSync(join(root, 'outside/sub/file'), 'secret')
  mkdirSync(join(disk, 'real/sub'), { recursive: true })
  writeFileSync(join(disk, 'real/sub/file'), 'content')
  symlinkSync('../outside', join(disk, 'evil'))
  const pod = withSubPath(claimed(false), 'real/sub')
  await volumes.mount(pod)
  const stop = swapping(disk)
  t.after(stop)
  for (let i = 0; i < 60; i++) {
    const target = await hostPath(volumes, pod).catch((error: Error) => error)
    if (target instanceof Error) assert.match(target.message, /^failed to (prepare|create) subPath/)
    else assert.notEqual(existsSync(join(target, 'file')) && readFileSync(join(target, 'file'), 'utf8'), 'secret')
  }
  await stop()
  assert.equal(readFileSync(join(root, 'outside/sub/file'), 'utf8'), 'secret')
})

test('what a container has mounted in a volume is unmounted, and stays', async (t) => {
  const { volumes, kubelet, disk, mounts } = setUp(t)
  const pod = podWith([scratch])
  await volumes.mount(pod)
  const folder = await hostPath(volumes, pod)
  mkdirSync(join(folder, 'inner'))
  await linuxMounter.mount({ source: disk, target: join(folder, 'inner'), options: ['bind'] })
  await kubelet().unmount(podUid)
  assert.deepEqual(await mounts(), [])
  assert.equal(existsSync(folder), false)
  assert.equal(readFileSync(join(disk, 'file'), 'utf8'), 'content')
})

test('a sub path whose file was deleted is unmounted', async (t) => {
  const { volumes, kubelet, disk, mounts } = setUp(t)
  const pod = withSubPath(claimed(false), 'file')
  await volumes.mount(pod)
  await hostPath(volumes, pod)
  rmSync(join(disk, 'file'))
  await kubelet().unmount(podUid)
  assert.deepEqual(await mounts(), [])
})

test('a failed mount has the message of upstream, and unmounting nothing is no error', async (t) => {
  const { root } = setUp(t)
  const target = join(root, 'missing')
  await linuxMounter.unmount(root)
  await assert.rejects(
    linuxMounter.mount({ source: 'tmpfs', target, type: 'tmpfs', options: ['size=1'] }),
    /^Error: mount failed: exit status 32\nMounting command: mount\nMounting arg.*: .*\nOutput: mount: .*not exist/,
  )
})
