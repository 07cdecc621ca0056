import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attachmentName, nodeVolumeName } from '../../../api/storage/attachment-names.ts'
import type { Node, Pod, VolumeAttachment } from '../../../client/kinds.ts'
import { volumeOf } from '../binder/binder.fixture.ts'
import { multiAttach, type NodeState, planAttachments } from './plan.ts'

const driver = 'csi.example.com'
const volume = volumeOf('v', { csi: { driver, volumeHandle: 'h' } })
const shared = volumeOf('v', { csi: { driver, volumeHandle: 'h' }, accessModes: ['ReadWriteMany'] })
const pod = (name: string, namespace = 'ns'): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace } })
const nodeOf = (status: Node['status'] = {}, taint?: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  spec: { ...(taint && { taints: [{ key: taint, effect: 'NoExecute' }] }) },
  status,
})
const attachment = (node: string, attached = true): VolumeAttachment => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: attachmentName('h', driver, node) },
  spec: { attacher: driver, nodeName: node, source: { persistentVolumeName: 'v' } },
  status: { attached },
})

/** The names of the plan's lists that are not empty. */
function planned(state: Partial<NodeState>, wants = true, wanted = volume): string {
  const { attach, blocked, detach, held, attached } = planAttachments({
    name: 'n',
    node: nodeOf(),
    desired: new Map(wants ? [['v', { volume: wanted, driver, handle: 'h', pods: [pod('p')] }]] : []),
    attachments: [],
    elsewhere: () => [],
    usersElsewhere: () => [],
    volume: () => wanted,
    hasTimedOut: () => false,
    ...state,
  })
  const counts = { attach, blocked, detach, held, attached }
  return Object.entries(counts)
    .filter(([, list]) => list.length > 0)
    .map(([name]) => name)
    .join(' ')
}

const inUse = { volumesInUse: [nodeVolumeName(driver, 'h')] }
const ready = { conditions: [{ type: 'Ready', status: 'True' }] }

test('a desired volume is attached once and reported when attached', () => {
  assert.equal(planned({}), 'attach')
  assert.equal(planned({ attachments: [attachment('n', false)] }), '')
  assert.equal(planned({ attachments: [attachment('n')] }), 'attached')
  assert.equal(planned({ node: undefined }), '')
})

test('a volume attached to another node is blocked unless it is shareable', () => {
  const elsewhere = () => [attachment('m')]
  assert.equal(planned({ elsewhere }), 'blocked')
  assert.equal(planned({ elsewhere }, true, shared), 'attach')
})

test('an unused volume is detached when it is unmounted or the node is lost', () => {
  const attachments = [attachment('n')]
  assert.equal(planned({ attachments }, false), 'detach')
  assert.equal(planned({ attachments, node: nodeOf({ ...inUse, ...ready }) }, false), 'held attached')
  assert.equal(
    planned({ attachments, node: nodeOf({ ...inUse, ...ready }), hasTimedOut: () => true }, false),
    'held attached',
  )
  assert.equal(planned({ attachments, node: nodeOf(inUse), hasTimedOut: () => true }, false), 'detach')
  assert.equal(planned({ attachments, node: nodeOf(inUse, 'node.kubernetes.io/out-of-service') }, false), 'detach')
  assert.equal(planned({ attachments, node: undefined }, false), 'detach')
})

test('attachments created by others are not detached', () => {
  const theirs = { ...attachment('n'), metadata: { name: 'by-hand' } }
  assert.equal(planned({ attachments: [theirs] }, false), 'attached')
})

test('multiAttach names users in the namespace and counts those in others', () => {
  const start = 'Multi-Attach error for volume "v" Volume is already '
  const pods = [pod('p')]
  assert.equal(multiAttach('v', pods, []), `${start}exclusively attached to one node and can't be attached to another`)
  assert.equal(multiAttach('v', pods, [pod('b'), pod('a')]), `${start}used by pod(s) a, b`)
  assert.equal(multiAttach('v', pods, [pod('b', 'x')]), `${start}used by 1 pod(s) in different namespaces`)
  assert.equal(
    multiAttach('v', pods, [pod('a'), pod('b', 'x')]),
    `${start}used by pod(s) a and 1 pod(s) in different namespaces`,
  )
})
