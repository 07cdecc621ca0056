import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod, VolumeAttachment } from '../../../client/kinds.ts'
import { volumeOf } from '../binder/binder-fixture.ts'
import { attachmentName, nodeVolumeName } from './names.ts'
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

/** What is done: names of what is attached, blocked, detached, held, and reported on the node. */
function planned(state: Partial<NodeState>, wants = true, wanted = volume): string {
  const { attach, blocked, detach, held, attached } = planAttachments({
    name: 'n',
    node: nodeOf(),
    wanted: new Map(wants ? [['v', { volume: wanted, driver, handle: 'h', pods: [pod('p')] }]] : []),
    attachments: [],
    elsewhere: () => [],
    usersElsewhere: () => [],
    volume: () => wanted,
    hasWaited: () => false,
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

test('what a node wants is attached once, and reported when it is', () => {
  assert.equal(planned({}), 'attach')
  assert.equal(planned({ attachments: [attachment('n', false)] }), '')
  assert.equal(planned({ attachments: [attachment('n')] }), 'attached')
  assert.equal(planned({ node: undefined }), '')
})

test('what one node has another one gets only if it can be shared', () => {
  const elsewhere = () => [attachment('m')]
  assert.equal(planned({ elsewhere }), 'blocked')
  assert.equal(planned({ elsewhere }, true, shared), 'attach')
})

test('what nobody uses is detached when the node has let go of it, or never will', () => {
  const attachments = [attachment('n')]
  assert.equal(planned({ attachments }, false), 'detach')
  assert.equal(planned({ attachments, node: nodeOf({ ...inUse, ...ready }) }, false), 'held attached')
  assert.equal(
    planned({ attachments, node: nodeOf({ ...inUse, ...ready }), hasWaited: () => true }, false),
    'held attached',
  )
  assert.equal(planned({ attachments, node: nodeOf(inUse), hasWaited: () => true }, false), 'detach')
  assert.equal(planned({ attachments, node: nodeOf(inUse, 'node.kubernetes.io/out-of-service') }, false), 'detach')
  assert.equal(planned({ attachments, node: undefined }, false), 'detach')
})

test('attachments that somebody else made stay', () => {
  const theirs = { ...attachment('n'), metadata: { name: 'by-hand' } }
  assert.equal(planned({ attachments: [theirs] }, false), 'attached')
})

test('who has a volume is named in its own namespace, and counted in others', () => {
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
