import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { PersistentVolume, Pod } from '../../client/kinds.ts'
import { PodVolumes, type VolumeError } from './pod-volumes.ts'
import type { MountedVolume, VolumePlugin } from './volume-plugin.ts'
import { volumePlugins } from './volume-plugins.ts'
import {
  claim,
  configMap,
  persistentVolume,
  podFields,
  podUid,
  podWith,
  secret,
  TestObjects,
  temporaryFolder,
  testNode,
} from './volumes.fixture.ts'

function setUp(t: TestContext, objects = new TestObjects(), more: readonly VolumePlugin[] = []) {
  const node = testNode(t)
  const events: string[] = []
  const forgotten: string[] = []
  const clock = { nowMs: 0 }
  const options = {
    ...node,
    objects,
    run: async () => ({ code: 0, output: '' }),
    tokens: { token: async () => 'token' },
    certificates: { bundle: async () => ({ key: '', chain: '' }) },
    fields: podFields,
    allocatableMemory: () => 1_000_000n,
    canDisableSwap: false,
    record: (_: Pod, { type, reason, message }: { type: string; reason: string; message: string }) =>
      void events.push(`${type} ${reason} ${message}`),
    node: () => ({ metadata: { name: 'n1', labels: { zone: 'a' } } }),
    image: async () => '',
    canMountRecursivelyReadOnly: async () => false,
    hasSelinux: false,
    forget: (uid: string) => void forgotten.push(uid),
    now: () => clock.nowMs,
  }
  /** The kubelet after a restart. */
  const restarted = () => new PodVolumes({ ...options, plugins: [...volumePlugins(options), ...more] })
  const folder = (path: string) => join(node.paths.volumes(podUid), path)
  return { ...node, clock, objects, events, forgotten, volumes: restarted(), restarted, folder }
}

const cfg = { name: 'cfg', configMap: { name: 'settings' } }
const keys = { name: 'keys', secret: { secretName: 'keys' } }
const data = { name: 'data', persistentVolumeClaim: { claimName: 'data' } }

test('all used volumes are set up, others are not', async (t) => {
  const objects = new TestObjects(configMap('settings', { a: '1' }), secret('keys', { k: 'x' }))
  const { volumes, folder, events } = setUp(t, objects)
  const pod = podWith([cfg, keys])
  pod.spec!.volumes!.push({ name: 'unused', emptyDir: {} })
  await volumes.mount(pod)
  assert.ok(existsSync(folder('kubernetes.io~configmap/cfg/a')))
  assert.ok(existsSync(folder('kubernetes.io~secret/keys/k')))
  assert.equal(existsSync(folder('kubernetes.io~empty-dir/unused')), false)
  const mounts = await volumes.mountsOf(pod, pod.spec!.containers[0]!, new Map())
  assert.deepEqual(
    mounts.map(({ hostPath, readonly }) => [hostPath, readonly]),
    [
      [folder('kubernetes.io~configmap/cfg'), true],
      [folder('kubernetes.io~secret/keys'), true],
    ],
  )
  assert.deepEqual(events, [])
})

test('volumes of init and ephemeral containers are used, too', async (t) => {
  const { volumes, folder } = setUp(t)
  const mount = (name: string) => ({ name, volumeMounts: [{ name, mountPath: '/x' }] })
  const pod = podWith([], {
    volumes: ['a', 'b'].map((name) => ({ name, emptyDir: {} })),
    containers: [{ name: 'main' }],
    initContainers: [mount('a')],
    ephemeralContainers: [mount('b')],
  })
  await volumes.mount(pod)
  for (const name of ['a', 'b']) assert.ok(existsSync(folder(`kubernetes.io~empty-dir/${name}`)))
})

test('a failure is an event, delays double, and the other volumes are set up', async (t) => {
  const { volumes, events, objects, folder } = setUp(t)
  const pod = podWith([cfg, { name: 'scratch', emptyDir: {} }])
  const message = 'MountVolume.SetUp failed for volume "cfg" : configmap "settings" not found'
  for (const retryMs of [500, 1000, 2000]) await assert.rejects(volumes.mount(pod), { message, retryMs })
  assert.deepEqual(events, Array(3).fill(`Warning FailedMount ${message}`))
  assert.ok(existsSync(folder('kubernetes.io~empty-dir/scratch')))
  await assert.rejects(volumes.mountsOf(pod, pod.spec!.containers[0]!, new Map()), /cannot find volume "cfg"/)
  objects.set(configMap('settings', { a: '1' }))
  await volumes.mount(pod)
  assert.equal(events.length, 3)
})

test('the delay is at most two minutes', async (t) => {
  const { volumes } = setUp(t)
  let last = 0
  for (let i = 0; i < 12; i++)
    last = await volumes.mount(podWith([cfg])).then(
      () => 0,
      (error: VolumeError) => error.retryMs,
    )
  assert.equal(last, 122_000)
})

test('claims that are not bound are one event', async (t) => {
  const objects = new TestObjects(claim('data', { status: { phase: 'Pending' } }))
  const { volumes, events } = setUp(t, objects)
  const pod = podWith([{ name: 'gone', persistentVolumeClaim: { claimName: 'gone' } }, data, cfg])
  const message =
    'unmounted volumes=[cfg data gone], unattached volumes=[], failed to process volumes=[data gone]: ' +
    'error processing PVC default/gone: failed to fetch PVC from API server: ' +
    'persistentvolumeclaims "gone" not found; error processing PVC default/data: PVC is not bound'
  await assert.rejects(volumes.mount(pod), { message })
  assert.deepEqual(events, [
    'Warning FailedMount MountVolume.SetUp failed for volume "cfg" : configmap "settings" not found',
    `Warning FailedMount Unable to attach or mount volumes: ${message}`,
  ])
})

test('a volume that no plug-in knows is an error', async (t) => {
  const { volumes } = setUp(t)
  await assert.rejects(volumes.mount(podWith([{ name: 'old', gitRepo: { repository: 'x' } }])), {
    message:
      'unmounted volumes=[old], unattached volumes=[], failed to process volumes=[old]: ' +
      'failed to get Plugin from volumeSpec for volume "old" err=no volume plugin matched',
  })
})

const hostPath = { path: '/srv' }
const required = (values: string[]) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values }] }] },
})

for (const [message, spec] of [
  [
    'MountVolume.NodeAffinity check failed for volume "pv-data" : no matching NodeSelectorTerms',
    { hostPath, nodeAffinity: required(['b']) },
  ],
  [
    'MountVolume.MountOptionSupport check failed for volume "pv-data" : ' +
      'Mount options are not supported for this volume type',
    { hostPath, mountOptions: ['noatime'] },
  ],
  [
    'MountVolume.NewMounter initialization failed for volume "pv-data" : path "/no/where" does not exist',
    { local: { path: '/no/where' } },
  ],
  [
    'MapVolume.SetUpDevice failed for volume "pv-data" : path "/no/where" does not exist',
    { local: { path: '/no/where' }, volumeMode: 'Block' },
  ],
] as const satisfies readonly (readonly [string, PersistentVolume['spec']])[])
  test(`a persistent volume cannot be mounted: ${message}`, async (t) => {
    const objects = new TestObjects(claim('data'), persistentVolume('data', spec as PersistentVolume['spec']))
    const { volumes, events } = setUp(t, objects)
    const containers = [{ name: 'main', volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }]
    await assert.rejects(volumes.mount(podWith([data], 'volumeMode' in spec ? { containers } : {})), { message })
    assert.deepEqual(events, [`Warning ${message.startsWith('Map') ? 'FailedMapVolume' : 'FailedMount'} ${message}`])
  })

test('a bound claim is not read again once it is mounted', async (t) => {
  const spec = { hostPath, nodeAffinity: required(['a']) }
  const { volumes, objects, restarted } = setUp(t, new TestObjects(claim('data'), persistentVolume('data', spec)))
  await volumes.mount(podWith([data]))
  const { reads } = objects
  await volumes.mount(podWith([data]))
  assert.equal(objects.reads, reads)
  await restarted().mount(podWith([data]))
  assert.ok(objects.reads > reads)
})

test('two volumes of one claim share its mount', async (t) => {
  const disk = temporaryFolder(t)
  const objects = new TestObjects(claim('data'), persistentVolume('data', { local: { path: disk } }))
  const { volumes, mounter } = setUp(t, objects)
  const pod = podWith([data, { ...data, name: 'again' }])
  await volumes.mount(pod)
  assert.equal(mounter.requests.length, 1)
  assert.deepEqual(
    volumes.volumesOf(podUid).map(({ name }) => name),
    ['pv-data', 'pv-data'],
  )
})

test('a ReadWriteOncePod volume is for one pod of the node', async (t) => {
  const spec = { hostPath, accessModes: ['ReadWriteOncePod'] }
  const { volumes } = setUp(t, new TestObjects(claim('data'), persistentVolume('data', spec)))
  const first = podWith([data])
  const second = { ...first, metadata: { ...first.metadata, uid: 'other' } }
  await volumes.mount(first)
  await volumes.mount(first)
  await assert.rejects(volumes.mount(second), {
    message:
      'MountVolume.SetUp failed for volume "pv-data" : ' +
      'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  })
  await volumes.unmount(podUid)
  await volumes.mount(second)
})

test('groups of persistent volumes are added to the containers', async (t) => {
  const withGroup = persistentVolume('data', { hostPath })
  withGroup.metadata.annotations = { 'pv.beta.kubernetes.io/gid': '1234' }
  const { volumes } = setUp(t, new TestObjects(claim('data'), withGroup))
  await volumes.mount(podWith([data]))
  assert.deepEqual(volumes.extraGroups(podWith([data])), [1234])
  assert.deepEqual(volumes.extraGroups(podWith([data], { securityContext: { supplementalGroups: [1234] } })), [])
})

test('content is refreshed, and a failure leaves the old content', async (t) => {
  const { volumes, objects, folder, events, clock } = setUp(t, new TestObjects(configMap('settings', { a: '1' })))
  const read = () => readFileSync(folder('kubernetes.io~configmap/cfg/a'), 'utf8')
  const pod = podWith([cfg])
  await volumes.refresh(pod)
  await volumes.mount(pod)
  objects.set(configMap('settings', { a: '2' }))
  await volumes.refresh(pod)
  assert.equal(read(), '2')
  objects.set(configMap('settings', { a: '3' }))
  clock.nowMs += 4_999
  await volumes.mount(pod)
  assert.equal(read(), '2')
  clock.nowMs += 1
  await volumes.mount(pod)
  assert.equal(read(), '3')
  objects.remove('ConfigMap', 'settings')
  await volumes.refresh(pod)
  clock.nowMs += 5_000
  await volumes.mount(pod)
  assert.equal(read(), '3')
  assert.deepEqual(
    events,
    Array(2).fill('Warning FailedMount MountVolume.SetUp failed for volume "cfg" : configmap "settings" not found'),
  )
})

test('refreshed files have the fields of the changed pod', async (t) => {
  const { volumes, folder } = setUp(t)
  const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }]
  const pod = podWith([{ name: 'info', downwardAPI: { items } }])
  await volumes.mount(pod)
  await volumes.mount({ ...pod, metadata: { ...pod.metadata, labels: { app: 'changed' } } })
  assert.equal(readFileSync(folder('kubernetes.io~downward-api/info/labels'), 'utf8'), '{"app":"changed"}')
})

test('all volumes of a pod are removed, also after a restart', async (t) => {
  const objects = new TestObjects(configMap('settings', { a: '1' }), secret('keys', { k: 'x' }))
  const { volumes, restarted, paths, mounter, forgotten } = setUp(t, objects)
  const pod = podWith([cfg, keys, { name: 'scratch', emptyDir: { medium: 'Memory' } }])
  pod.spec!.containers[0]!.volumeMounts![2]!.subPath = 'a/b'
  await volumes.mount(pod)
  await volumes.mountsOf(pod, pod.spec!.containers[0]!, new Map())
  assert.equal(mounter.mounts.length, 3)
  const kubelet = restarted()
  assert.deepEqual(await kubelet.podFolders(), [podUid])
  await kubelet.unmount(podUid)
  assert.deepEqual(mounter.targets, [])
  for (const name of ['volumes', 'volume-subpaths', 'plugins'])
    assert.equal(existsSync(join(paths.pod(podUid), name)), false)
  assert.deepEqual(forgotten, [podUid])
  await kubelet.unmount(podUid)
  await kubelet.unmount('never-seen')
})

test('a removal that fails removes the rest, and is repeated', async (t) => {
  const { volumes, mounter, folder, forgotten } = setUp(t)
  const pod = podWith(['a', 'b'].map((name) => ({ name, emptyDir: { medium: 'Memory' } })))
  await volumes.mount(pod)
  const { unmount } = FakeUnmount(mounter, folder('kubernetes.io~empty-dir/a'))
  await assert.rejects(volumes.unmount(podUid), /^Error: UnmountVolume.TearDown failed for volume "a" : target is busy/)
  assert.deepEqual(mounter.targets, [folder('kubernetes.io~empty-dir/a')])
  assert.deepEqual(forgotten, [])
  mounter.unmount = unmount
  await volumes.unmount(podUid)
  assert.deepEqual(mounter.targets, [])
})

/** Makes one unmount fail; returns the original. */
function FakeUnmount(mounter: { unmount(target: string): Promise<void> }, busy: string) {
  const unmount = mounter.unmount.bind(mounter)
  mounter.unmount = async (target) => {
    if (target === busy) throw new Error('target is busy')
    await unmount(target)
  }
  return { unmount }
}

test('the content of a volume of an unknown kind is never removed', async (t) => {
  const { volumes, mounter, folder } = setUp(t)
  const path = folder('kubernetes.io~nfs/share')
  mkdirSync(path, { recursive: true })
  await mounter.mount({ source: 'server:/', target: path, type: 'nfs', options: [] })
  writeFileSync(join(path, 'precious'), 'x')
  await volumes.unmount(podUid)
  assert.deepEqual(mounter.targets, [])
  assert.ok(existsSync(join(path, 'precious')))
})

test('operations of a pod run one after another', async (t) => {
  const log: string[] = []
  let release = () => {}
  const slow: VolumePlugin = {
    name: 'example.com/slow',
    isRefreshed: false,
    hasMountOptions: false,
    supports: ({ volume }) => volume?.csi !== undefined,
    async setUp({ folder }): Promise<MountedVolume> {
      log.push('set up')
      mkdirSync(folder, { recursive: true })
      await new Promise<void>((resolve) => (release = resolve))
      log.push('is set up')
      return { path: folder, isReadOnly: false, isRelabeled: false }
    },
    async tearDown() {
      log.push('tear down')
    },
  }
  const { volumes } = setUp(t, new TestObjects(), [slow])
  const pod = podWith([{ name: 'slow', csi: { driver: 'x' } }])
  const mounting = volumes.mount(pod)
  const unmounting = volumes.unmount(podUid)
  while (log.length === 0) await new Promise((resolve) => setImmediate(resolve))
  release()
  await Promise.all([mounting, unmounting])
  assert.deepEqual(log, ['set up', 'is set up', 'tear down'])
})

test('names that lead out of the folder are refused', async (t) => {
  const { volumes } = setUp(t)
  await assert.rejects(
    volumes.mount(podWith([{ name: '../../x', emptyDir: {} }])),
    /"..\/..\/x" is not a name of a file/,
  )
  await assert.rejects(volumes.unmount('../..'), /is not a name of a file/)
})
