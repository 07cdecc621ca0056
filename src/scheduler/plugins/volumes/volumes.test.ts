import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CSINode, Pod } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { PluginFactory } from '../../framework/index.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { filterWith } from '../../testing/try-plugin.fixture.ts'
import { nodeVolumeLimits } from './limits/index.ts'
import { aClaim, aClass, aPodWith, aVolume } from './objects.fixture.ts'
import { volumeRestrictions } from './restrictions/index.ts'
import { volumeZone } from './zone/index.ts'

const zone = 'topology.kubernetes.io/zone'
const nodes = [aNode('a', { labels: { [zone]: 'a' } }), aNode('b', { labels: { [zone]: 'b' } }), aNode('x')]
const verdicts = (factory: PluginFactory, of: Pod, objects: KubeObject[], pods: Pod[] = []): string[] =>
  Object.values(filterWith(factory, of, { nodes, objects, pods }))

type PodVolume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]
const withVolume = (name: string, volume: Omit<PodVolume, 'name'>, nodeName?: string): Pod =>
  aPod(name, { nodeName, volumes: [{ name: 'v', ...volume }] })

test('VolumeRestrictions rejects nodes or pods for disks and claims in use', () => {
  const [disk, claim] = [
    'node(s) had no available disk',
    'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
  ]
  const gce = (pdName: string, readOnly?: boolean) => ({ gcePersistentDisk: { pdName, readOnly } })
  const ebs = (volumeID: string, readOnly?: boolean) => ({ awsElasticBlockStore: { volumeID, readOnly } })
  const rbd = (image: string, ...monitors: string[]) => ({ rbd: { image, monitors } })
  const iscsi = (iqn: string, readOnly?: boolean) => ({ iscsi: { iqn, lun: 0, targetPortal: 't', readOnly } })
  const cases: [string, Pod, Pod, string[]][] = [
    ['no volume', aPod('p'), withVolume('q', gce('d'), 'a'), ['', '', '']],
    ['the same disk', withVolume('p', gce('d')), withVolume('q', gce('d'), 'a'), [disk, '', '']],
    ['another disk', withVolume('p', gce('d')), withVolume('q', gce('e'), 'a'), ['', '', '']],
    ['a disk that both read', withVolume('p', gce('d', true)), withVolume('q', gce('d', true), 'a'), ['', '', '']],
    ['a disk that one reads', withVolume('p', gce('d', true)), withVolume('q', gce('d'), 'a'), [disk, '', '']],
    ['a store that both read', withVolume('p', ebs('d', true)), withVolume('q', ebs('d', true), 'b'), ['', disk, '']],
    ['an image', withVolume('p', rbd('i', 'm1', 'm2')), withVolume('q', rbd('i', 'm2'), 'a'), [disk, '', '']],
    ['an image of others', withVolume('p', rbd('i', 'm1')), withVolume('q', rbd('i', 'm2'), 'a'), ['', '', '']],
    ['a target', withVolume('p', iscsi('t')), withVolume('q', iscsi('t'), 'a'), [disk, '', '']],
    ['a claim for one pod', aPodWith('p', ['one']), aPodWith('q', ['one'], 'a'), [claim, claim, claim]],
    ['a claim for many', aPodWith('p', ['many']), aPodWith('q', ['many'], 'a'), ['', '', '']],
    [
      'a claim that is not created yet',
      withVolume('p', { ephemeral: { volumeClaimTemplate: { spec: {} } } }),
      aPod('q'),
      ['', '', ''],
    ],
    [
      'a claim that does not exist',
      aPodWith('p', ['none']),
      aPod('q'),
      new Array<string>(3).fill('persistentvolumeclaim "none" not found'),
    ],
  ]
  const objects = [aClaim('one', { accessModes: ['ReadWriteOncePod'] }), aClaim('many')]
  for (const [title, of, other, expected] of cases)
    assert.deepEqual(verdicts(volumeRestrictions, of, objects, [other]), expected, title)
})

test('VolumeZone: pods run in the zones of their volumes', () => {
  const wrong = 'node(s) had no available volume zone'
  const all = (reason: string): string[] => [reason, reason, reason]
  const labeled = (labels: Record<string, string>): KubeObject[] => [
    aClaim('c', { volumeName: 'v' }),
    aVolume('v', {}, { labels }),
  ]
  const cases: [string, KubeObject[], string[]][] = [
    ['no labels', labeled({}), all('')],
    // A node without zone labels is taken to be in a cluster without zones.
    ['a zone', labeled({ [zone]: 'a' }), ['', wrong, '']],
    ['several zones', labeled({ [zone]: 'a__b' }), ['', '', '']],
    ['an old label', labeled({ 'failure-domain.beta.kubernetes.io/zone': 'b' }), [wrong, '', '']],
    ['a region that nodes do not know', labeled({ 'topology.kubernetes.io/region': 'r' }), [wrong, wrong, '']],
    ['no claim', [], all('persistentvolumeclaim "c" not found')],
    ['no volume', [aClaim('c', { volumeName: 'v' })], all('persistentvolume "v" not found')],
    ['no class', [aClaim('c')], all('PersistentVolumeClaim had no pv name and storageClass name')],
    [
      'a class that does not exist',
      [aClaim('c', { storageClassName: 's' })],
      all('storageclass.storage.k8s.io "s" not found'),
    ],
    ['a class with delayed binding', [aClaim('c', { storageClassName: 's' }), aClass('s')], all('')],
    [
      'a class with immediate binding',
      [aClaim('c', { storageClassName: 's' }), aClass('s', { volumeBindingMode: 'Immediate' })],
      all('PersistentVolume had no name'),
    ],
  ]
  for (const [title, objects, expected] of cases)
    assert.deepEqual(verdicts(volumeZone, aPodWith('p', ['c']), objects), expected, title)
})

test("NodeVolumeLimits: a node gets at most the driver's maximum of volumes", () => {
  const full = 'node(s) exceed max volume count'
  const csiNode = (name: string, driver: string, count?: number, annotations?: Record<string, string>): CSINode => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name, annotations },
    spec: { drivers: [{ name: driver, nodeID: name, ...(count !== undefined && { allocatable: { count } }) }] },
  })
  const bound = (name: string, driver = 'd'): KubeObject[] => [
    aClaim(name, { volumeName: `pv-${name}` }),
    aVolume(`pv-${name}`, { csi: { driver, volumeHandle: name }, claimRef: { name, namespace: 'default' } }),
  ]
  const objects = [
    ...bound('c1'),
    ...bound('c2'),
    ...bound('other', 'e'),
    aClaim('new', { storageClassName: 's' }),
    aClass('s', { provisioner: 'd' }),
  ]
  const limits = [csiNode('a', 'd', 1), csiNode('b', 'd')]
  const attached = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: 'va' },
    spec: { attacher: 'd', nodeName: 'a', source: { persistentVolumeName: 'pv-c1' } },
  }
  const migrated = [
    csiNode('a', 'ebs.csi.aws.com', 1, { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/aws-ebs' }),
  ]
  const withoutDrivers = JSON.stringify(csiNode('a', 'd')).replace(/\[.*\]/, 'null')
  const ebs = (name: string, volumeID: string, nodeName?: string): Pod =>
    withVolume(name, { awsElasticBlockStore: { volumeID } }, nodeName)
  const cases: [string, Pod, KubeObject[], Pod[], string[]][] = [
    ['room', aPodWith('p', ['c1']), limits, [], ['', '', '']],
    ['no room', aPodWith('p', ['c1', 'c2']), limits, [], [full, '', '']],
    ['taken by a pod', aPodWith('p', ['c1']), limits, [aPodWith('q', ['c2'], 'a')], [full, '', '']],
    ['the same volume', aPodWith('p', ['c1']), limits, [aPodWith('q', ['c1'], 'a')], ['', '', '']],
    ['another driver', aPodWith('p', ['other']), limits, [aPodWith('q', ['c2'], 'a')], ['', '', '']],
    [
      'a volume that is not provisioned yet',
      aPodWith('p', ['new']),
      limits,
      [aPodWith('q', ['c2'], 'a')],
      [full, '', ''],
    ],
    ['used up by attachments', aPodWith('p', ['c2']), [...limits, attached], [], [full, '', '']],
    ['in-tree volume types', ebs('p', 'v1'), migrated, [ebs('q', 'v2', 'a')], [full, '', '']],
    ['a node without drivers', aPodWith('p', ['c1']), [JSON.parse(withoutDrivers)], [], ['', '', '']],
    ['in-tree types without migration', ebs('p', 'v1'), [csiNode('a', 'ebs.csi.aws.com', 0)], [], ['', '', '']],
  ]
  for (const [title, of, more, pods, expected] of cases)
    assert.deepEqual(verdicts(nodeVolumeLimits, of, [...objects, ...more], pods), expected, title)
})
