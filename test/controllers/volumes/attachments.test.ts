/** Volumes are attached to nodes whose pods use them. The test simulates the CSI driver and the kubelets. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Node, VolumeAttachment } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Storage } from './storage.ts'

const cluster = testCluster({ after }, { controllers: ['attachdetach', 'persistentvolume-binder', 'serviceaccount'] })
const attachmentsPath = '/apis/storage.k8s.io/v1/volumeattachments'
const driver = 'csi.example.com'

test('a volume is attached to one node, and detached when the pod is deleted', async () => {
  const all = await Storage.in(await cluster, 'attached')
  const { cluster: api } = all
  const attachments = async (): Promise<readonly VolumeAttachment[]> =>
    ((await api.call('GET', attachmentsPath)) as unknown as { items: VolumeAttachment[] }).items
  const nodeVolumes = async (name: string): Promise<readonly string[]> =>
    ((await api.call('GET', `/api/v1/nodes/${name}`)) as unknown as Node).status?.volumesAttached?.map(
      (volume) => volume.name,
    ) ?? []
  for (const name of ['one', 'two'])
    await api.call('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } },
    })
  await all.volume('attached', { hostPath: undefined, csi: { driver, volumeHandle: 'h' } })
  await all.claim('c')
  await all.claimIn('Bound', 'c')
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }]
  await all.pod('first', volumes, 'one')
  const made = await waitFor('the attachment', async () => (await attachments())[0])
  assert.deepEqual(made.spec, { attacher: driver, nodeName: 'one', source: { persistentVolumeName: 'attached' } })
  assert.match(made.metadata.name ?? '', /^csi-[0-9a-f]{64}$/)
  await all.patch(`${attachmentsPath}/${made.metadata.name}/status`, {
    status: { attached: false, attachError: { message: 'no room' } },
  })
  assert.equal(
    (await all.event('first', 'FailedAttachVolume')).message,
    'AttachVolume.Attach failed for volume "attached" : no room',
  )
  await all.patch(`${attachmentsPath}/${made.metadata.name}/status`, { status: { attached: true, attachError: null } })
  assert.equal(
    (await all.event('first', 'SuccessfulAttachVolume')).message,
    'AttachVolume.Attach succeeded for volume "attached" ',
  )
  await waitFor(
    'the node status to be updated',
    async () => (await nodeVolumes('one')).join() === `kubernetes.io/csi/${driver}^h`,
  )

  await all.pod('second', volumes, 'two')
  assert.equal(
    (await all.event('second', 'FailedAttachVolume')).message,
    'Multi-Attach error for volume "attached" Volume is already used by pod(s) first',
  )
  await all.patch('/api/v1/nodes/one/status', { status: { volumesInUse: [`kubernetes.io/csi/${driver}^h`] } })
  await api.call('DELETE', `${all.core}/pods/first?gracePeriodSeconds=0`)
  // Its kubelet must unmount it first.
  await all.patch('/api/v1/nodes/one/status', { status: { volumesInUse: null } })
  const moved = await waitFor('the other node to get it', async () =>
    (await attachments()).find(({ spec }) => spec?.nodeName === 'two'),
  )
  assert.equal(moved.spec?.source?.persistentVolumeName, 'attached')
  assert.equal((await attachments()).length, 1)
  assert.deepEqual(await nodeVolumes('one'), [])
})
