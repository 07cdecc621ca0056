/** CSI volumes on a real node, with a driver of the test. Attachments are made by our attach-detach controller. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import {
  csiDrivers,
  csiNodes,
  nodes,
  type PersistentVolume,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
  volumeAttachments,
} from '../../../src/client/kinds.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Capability, CsiTestDriver } from '../support/csi-driver.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { TestNode } from '../support/test-node.ts'

const name = 'folders.test.csi'
const attached = 'attached.test.csi'
const mounts = [{ name: 'data', mountPath: '/data' }]
const claimVolume = (claimName: string) => [{ name: 'data', persistentVolumeClaim: { claimName } }]

/** The kubelet's summary of usage, through the API server. */
async function summaryOf({ cluster }: TestNode): Promise<string> {
  const { url, ca, cert, key } = cluster.client
  const options = { ca, cert, key, agent: false } as const
  const sent = request(new URL('/api/v1/nodes/n1/proxy/stats/summary', url), options).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return text(response)
}

interface Drivers {
  readonly node: TestNode
  /** Stages and expands, and attaches nothing. */
  readonly driver: CsiTestDriver
  /** Needs attachments. */
  readonly attachedDriver: CsiTestDriver
}

const volumeFolder = ({ node }: Pick<Drivers, 'node'>, pod: Pod, volume: string): string =>
  join(node.podFolder(pod), 'volumes/kubernetes.io~csi', volume)

const loopProblem = existsSync('/dev/loop-control') ? false : 'needs loop devices'

await inNamespaces(import.meta.filename, async () => {
  const node = await TestNode.start()
  const startDriver = (driverName: string, capabilities: readonly Capability[]): Promise<CsiTestDriver> =>
    CsiTestDriver.start({
      name: driverName,
      folder: join(node.root, driverName),
      registry: join(node.root, 'kubelet/plugins_registry'),
      capabilities,
    })

  const driver = await startDriver(name, [
    Capability.STAGE_UNSTAGE_VOLUME,
    Capability.EXPAND_VOLUME,
    Capability.GET_VOLUME_STATS,
  ])
  const attachedDriver = await startDriver(attached, [Capability.VOLUME_MOUNT_GROUP])
  const spec = { attachRequired: false, podInfoOnMount: true, fsGroupPolicy: 'File', requiresRepublish: false }
  await node.client.create(csiDrivers, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name },
    spec: {
      ...spec,
      volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      tokenRequests: [{ audience: 'vault', expirationSeconds: 600 }],
    },
  })
  await waitFor('the drivers are registered', () => driver.registrations[0] && attachedDriver.registrations[0])
  after(() => {
    driver.stop()
    attachedDriver.stop()
  })
  const drivers = { node, driver, attachedDriver }

  test('a driver registers itself: CSINode, annotation and topology of the node', () => registration(drivers))
  test('a claim is staged once and published to each pod, and both are undone after the last one', () =>
    staging(drivers))
  test('an inline volume lives as long as its pod', () => inline(drivers))
  test('a failure of the driver is an event of the pod, and is retried', () => failure(drivers))
  test('an attached volume is mounted after its attachment, and is in use until it is unmounted', () =>
    attachment(drivers))
  test('a claim that has grown is expanded on the node, and its resize ends', () => expansion(drivers))
  test('a block volume is a device of the container', { skip: loopProblem }, () => block(drivers))
  test('after a restart of the kubelet, volumes stay, and those of deleted pods are undone', () => restart(drivers))
  test('a driver that ends is removed from the node', () => removal(drivers))
})

/** Creates a claim that is bound to a volume of a driver. */
async function createClaim(
  { node }: Pick<Drivers, 'node'>,
  claim: string,
  more: PersistentVolume['spec'] = {},
  driverName = name,
): Promise<void> {
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: 'none', volumeMode: more?.volumeMode }
  const metadata = { name: `pv-${claim}` }
  const { csi, ...spec } = more ?? {}
  await node.client.create(persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata,
    spec: {
      ...common,
      capacity: { storage: '1Gi' },
      csi: { driver: driverName, volumeHandle: `vol-${claim}`, ...csi },
      ...spec,
    },
  })
  await node.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: claim },
    spec: { ...common, volumeName: metadata.name, resources: { requests: { storage: '1Gi' } } },
  })
}

async function registration({ node, driver }: Drivers): Promise<void> {
  assert.deepEqual(driver.registrations[0], { pluginRegistered: true, error: '' })
  const { metadata } = await node.client.get(nodes, '', 'n1')
  assert.equal(
    metadata.annotations?.['csi.volume.kubernetes.io/nodeid'],
    `{"${attached}":"id-of-n1","${name}":"id-of-n1"}`,
  )
  assert.equal(metadata.labels?.['test.csi/zone'], 'z1')
  const csiNode = await node.client.get(csiNodes, '', 'n1')
  assert.deepEqual(
    csiNode.spec?.drivers.find((one) => one.name === name),
    { name, nodeID: 'id-of-n1', topologyKeys: ['test.csi/zone'], allocatable: { count: 7 } },
  )
  assert.equal(csiNode.metadata.ownerReferences?.[0]?.uid, metadata.uid)
}

async function staging({ node, driver }: Drivers): Promise<void> {
  await node.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name: 'stage' },
    data: { password: Buffer.from('hidden').toString('base64') },
  })
  const csi = {
    driver: name,
    volumeHandle: 'vol-shared',
    fsType: 'ext4',
    nodeStageSecretRef: { namespace: 'default', name: 'stage' },
    volumeAttributes: { color: 'red' },
  }
  await createClaim({ node }, 'shared', { csi })
  const create = (podName: string, script: string) =>
    node.create({
      name: podName,
      script,
      volumes: claimVolume('shared'),
      securityContext: { fsGroup: 4321 },
      container: { volumeMounts: mounts },
    })
  const writer = await create('writer', 'echo written > /data/file; stat -c %g /data; sleep 100000')
  await node.outputWith(writer, '4321')
  const reader = await create('reader', 'cat /data/file')
  assert.equal(await node.ended(reader), 'written')
  const stage = join(node.root, 'kubelet/plugins/kubernetes.io/csi', name)
  const [staged = assert.fail()] = driver
    .requests('NodeStageVolume')
    .filter(({ volumeId }) => volumeId === 'vol-shared')
  assert.ok(staged.stagingTargetPath.startsWith(`${stage}/`) && staged.stagingTargetPath.endsWith('/globalmount'))
  assert.deepEqual({ ...staged.secrets }, { password: 'hidden' })
  assert.deepEqual(JSON.parse(readFileSync(join(staged.stagingTargetPath, '../vol_data.json'), 'utf8')), {
    driverName: name,
    volumeHandle: 'vol-shared',
  })
  const published = driver.requests('NodePublishVolume').filter(({ volumeId }) => volumeId === 'vol-shared')
  assert.equal(driver.requests('NodeStageVolume').filter(({ volumeId }) => volumeId === 'vol-shared').length, 1)
  assert.equal(published.length, 2)
  const folder = volumeFolder({ node }, writer, 'pv-shared')
  assert.equal(published[0]?.targetPath, join(folder, 'mount'))
  const { 'csi.storage.k8s.io/serviceAccount.tokens': tokens = '', ...context } = published[0].volumeContext
  assert.deepEqual(context, {
    color: 'red',
    'csi.storage.k8s.io/pod.name': 'writer',
    'csi.storage.k8s.io/pod.namespace': 'default',
    'csi.storage.k8s.io/pod.uid': writer.metadata.uid,
    'csi.storage.k8s.io/serviceAccount.name': 'default',
    'csi.storage.k8s.io/ephemeral': 'false',
  })
  assert.deepEqual(Object.keys(JSON.parse(tokens).vault), ['token', 'expirationTimestamp'])
  assert.equal(JSON.parse(readFileSync(join(folder, 'vol_data.json'), 'utf8')).volumeLifecycleMode, 'Persistent')
  await node.deleted(reader)
  assert.equal(driver.requests('NodeUnstageVolume').length, 0)
  await unstaging({ node, driver }, writer, folder, staged.stagingTargetPath)
  assert.equal(readFileSync(join(driver.content('vol-shared'), 'file'), 'utf8'), 'written\n')
}

/** Ends the last pod of a volume while its driver cannot unstage it. */
async function unstaging(
  { node, driver }: Pick<Drivers, 'node' | 'driver'>,
  last: Pod,
  folder: string,
  stage: string,
): Promise<void> {
  driver.failures.set('NodeUnstageVolume', 'the disk is busy')
  // Only unpublishing holds up the end of a pod.
  await node.deleted(last)
  await waitFor('unstaging is retried', () => driver.requests('NodeUnstageVolume').length > 1)
  assert.ok(existsSync(stage))
  assert.ok(!existsSync(folder))
  driver.failures.clear()
  await waitFor('the volume is unstaged', () => !existsSync(dirname(stage)))
}

async function inline({ node, driver }: Drivers): Promise<void> {
  const pod = await node.create({
    name: 'inline',
    script: 'touch /data/x 2>/dev/null || echo read-only; ls /data',
    volumes: [{ name: 'data', csi: { driver: name, readOnly: true, volumeAttributes: { a: 'b' } } }],
    container: { volumeMounts: mounts },
  })
  assert.equal(await node.ended(pod), 'read-only')
  const request = driver.requests('NodePublishVolume').find(({ volumeContext }) => volumeContext.a === 'b')
  assert.match(request?.volumeId ?? '', /^csi-[0-9a-f]{64}$/)
  assert.equal(request?.volumeContext['csi.storage.k8s.io/ephemeral'], 'true')
  await node.deleted(pod)
  assert.ok(driver.requests('NodeUnpublishVolume').some(({ volumeId }) => volumeId === request?.volumeId))
}

async function failure({ node, driver }: Drivers): Promise<void> {
  driver.failures.set('NodePublishVolume', 'the disk is busy')
  await createClaim({ node }, 'fails')
  const pod = await node.create({
    name: 'fails',
    script: 'echo mounted',
    volumes: claimVolume('fails'),
    container: { volumeMounts: mounts },
  })
  const message = 'MountVolume.SetUp failed for volume "pv-fails" : rpc error: code = Internal desc = the disk is busy'
  await waitFor('the event', async () => (await node.messages(pod, 'FailedMount')).includes(message))
  driver.failures.clear()
  assert.equal(await node.ended(pod), 'mounted')
  await node.deleted(pod)
}

async function attachment({ node, attachedDriver }: Drivers): Promise<void> {
  const nodePublishSecretRef = { namespace: 'default', name: 'stage' }
  const csi = { driver: attached, volumeHandle: 'vol-attached', fsType: 'ext4', nodePublishSecretRef }
  await createClaim({ node }, 'attached', { csi }, attached)
  const pod = await node.create({
    name: 'attached',
    script: 'echo mounted; sleep 100000',
    volumes: claimVolume('attached'),
    securityContext: { fsGroup: 4321 },
    container: { volumeMounts: mounts },
  })
  const attachment = await waitFor('the attachment is requested', async () => {
    const { items } = await node.client.list(volumeAttachments, {})
    return items.find(({ spec }) => spec?.source.persistentVolumeName === 'pv-attached')
  })
  assert.deepEqual(attachedDriver.calls, [])
  const status = { attached: true, attachmentMetadata: { device: '/dev/x' } }
  const attachmentName = attachment.metadata.name ?? ''
  await node.client.patch(volumeAttachments, '', attachmentName, { status }, 'merge', 'status')
  await node.outputWith(pod, 'mounted')
  const [published = assert.fail()] = attachedDriver.requests('NodePublishVolume')
  assert.deepEqual({ ...published.publishContext }, { device: '/dev/x' })
  assert.deepEqual({ ...published.secrets }, { password: 'hidden' })
  // The driver sets the group of the files itself: the kubelet leaves them alone.
  assert.equal(published.volumeCapability?.accessType.value?.volumeMountGroup, '4321')
  assert.equal(statSync(attachedDriver.content('vol-attached')).gid, 0)
  const uniqueName = `kubernetes.io/csi/${attached}^vol-attached`
  const inUse = async () => (await node.client.get(nodes, '', 'n1')).status?.volumesInUse ?? []
  assert.deepEqual(await inUse(), [uniqueName])
  await node.deleted(pod)
  await waitFor('it is not in use', async () => (await inUse()).length === 0)
  await waitFor('the attachment is deleted', async () => {
    const current = await node.client.find(volumeAttachments, '', attachmentName)
    return current === undefined || current.metadata.deletionTimestamp !== undefined
  })
}

async function expansion({ node, driver }: Drivers): Promise<void> {
  const nodeExpandSecretRef = { namespace: 'default', name: 'stage' }
  await createClaim({ node }, 'grows', { csi: { driver: name, volumeHandle: 'vol-grows', nodeExpandSecretRef } })
  const pod = await node.create({
    name: 'grows',
    script: 'until test -e /data/expanded; do sleep 0.1; done; cat /data/expanded',
    volumes: claimVolume('grows'),
    container: { volumeMounts: mounts },
  })
  await node.running(pod)
  // As the external resizer does after it has grown the volume itself.
  await node.client.patch(persistentVolumes, '', 'pv-grows', { spec: { capacity: { storage: '2Gi' } } })
  const conditions = [{ type: 'FileSystemResizePending', status: 'True' }]
  await node.client.patch(persistentVolumeClaims, 'default', 'grows', { status: { conditions } }, 'merge', 'status')
  await node.client.patch(pods, 'default', 'grows', { metadata: { labels: { changed: 'true' } } })
  assert.equal(await node.ended(pod), 'yes')
  assert.deepEqual({ ...driver.requests('NodeExpandVolume')[0]?.secrets }, { password: 'hidden' })
  await waitFor('the resize ends', async () => {
    const { status } = await node.client.get(persistentVolumeClaims, 'default', 'grows')
    return status?.capacity?.storage === '2Gi' && (status.conditions ?? []).length === 0
  })
  const message = 'MountVolume.NodeExpandVolume succeeded for volume "pv-grows" n1'
  await waitFor('the event', async () => (await node.messages(pod, 'FileSystemResizeSuccessful')).includes(message))
  await node.deleted(pod)
}

async function block({ node, driver }: Drivers): Promise<void> {
  await createClaim({ node }, 'block', { volumeMode: 'Block' })
  const pod = await node.create({
    name: 'block',
    script: 'test -b /dev/disk && head -c 8 /dev/disk',
    volumes: claimVolume('block'),
    container: { volumeDevices: [{ name: 'data', devicePath: '/dev/disk' }] },
  })
  assert.equal(await node.ended(pod), 'raw data')
  const publish = join(node.root, 'kubelet/plugins/kubernetes.io/csi/volumeDevices/publish/pv-block')
  assert.ok(statSync(join(publish, pod.metadata.uid ?? '')).isBlockDevice())
  await node.deleted(pod)
  assert.ok(!existsSync(publish))
  driver.freeDevice('vol-block')
}

async function restart({ node, driver }: Drivers): Promise<void> {
  await createClaim({ node }, 'stays')
  await createClaim({ node }, 'ends')
  const create = (podName: string) =>
    node.create({
      name: podName,
      script: 'until test -e /data/go; do sleep 0.1; done; cat /data/go; sleep 100000',
      volumes: claimVolume(podName),
      container: { volumeMounts: mounts },
    })
  const stays = await node.running(await create('stays'))
  const ends = await node.running(await create('ends'))
  await node.stopKubelet()
  await node.client.delete(pods, 'default', 'ends', { gracePeriodSeconds: 0 })
  await node.startKubelet()
  await waitFor('the volume is unstaged', () =>
    driver.requests('NodeUnstageVolume').some(({ stagingTargetPath }) => !existsSync(stagingTargetPath)),
  )
  await waitFor('the folder is removed', () => !existsSync(node.podFolder(ends)), { deadlineMs: 120_000 })
  writeFileSync(join(driver.content('vol-stays'), 'go'), 'went on\n')
  await node.outputWith(stays, 'went on')
  await waitFor('the summary has the usage', async () => {
    const summary = await summaryOf(node)
    return summary.includes('"pvcRef":{"name":"stays","namespace":"default"}') && summary.includes('"usedBytes":40')
  })
  const after = await node.read(stays)
  assert.equal(after.status?.containerStatuses?.[0]?.containerID, stays.status?.containerStatuses?.[0]?.containerID)
  driver.failures.set('NodeUnstageVolume', 'the disk is busy')
  await node.deleted(stays)
  await node.stopKubelet()
  driver.failures.clear()
  const unstaged = () => driver.requests('NodeUnstageVolume').filter(({ volumeId }) => volumeId === 'vol-stays')
  const before = unstaged().length
  assert.ok(before > 0)
  await node.startKubelet()
  await waitFor('the volume without a pod is unstaged', () => unstaged().length > before)
}

async function removal({ node, attachedDriver }: Drivers): Promise<void> {
  attachedDriver.stop()
  await waitFor('it is removed', async () => {
    const { spec } = await node.client.get(csiNodes, '', 'n1')
    return spec?.drivers.every((one) => one.name !== attached)
  })
  await waitFor('its annotation is removed', async () => {
    const { metadata } = await node.client.get(nodes, '', 'n1')
    return metadata.annotations?.['csi.volume.kubernetes.io/nodeid'] === `{"${name}":"id-of-n1"}`
  })
}
