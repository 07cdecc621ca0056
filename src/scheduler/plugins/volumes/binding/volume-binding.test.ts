import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../../client/kinds.ts'
import { systemClock } from '../../../../lib/clock/clock.ts'
import type { KubeObject } from '../../../../machinery/object.ts'
import { PodInfo } from '../../../framework/index.ts'
import { aNode, aPod } from '../../../testing/objects.fixture.ts'
import { filterWith, handleOf, makePlugin, snapshotOf } from '../../../testing/try-plugin.fixture.ts'
import { Waiters } from '../../waiters.ts'
import { aClaim, aClass, aPodWith, aVolume, onlyOn } from '../objects.fixture.ts'
import { reasons } from './find-volumes.ts'
import { volumeBinding } from './index.ts'
import { isBindingComplete } from './publish.ts'
import { scoreVolumes } from './scoring.ts'

const nodes = [aNode('a'), aNode('b')]
const both = (reason: string): string[] => [reason, reason]
const verdicts = (of: Pod, objects: KubeObject[]): string[] =>
  Object.values(filterWith(volumeBinding, of, { nodes, objects }))

const waiting = (name: string, storage = '1Gi'): PersistentVolumeClaim =>
  aClaim(name, { storageClassName: 'local', resources: { requests: { storage } } })
const local = (name: string, node: string, storage = '1Gi', more: PersistentVolume['spec'] = {}): PersistentVolume =>
  aVolume(name, { storageClassName: 'local', capacity: { storage }, ...onlyOn(node), ...more })
const made = aClass('made', { provisioner: 'd' })
const makes = (name: string, metadata = {}): PersistentVolumeClaim =>
  aClaim(name, { storageClassName: 'made' }, metadata)
const driver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'd' },
  spec: { storageCapacity: true },
}
const capacity = (node: string, amount: string) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { name: `${node}-has`, namespace: 'default' },
  storageClassName: 'made',
  capacity: amount,
  nodeTopology: { matchLabels: { 'kubernetes.io/hostname': node } },
})

test('pods are scheduled where their volumes are or can be', () => {
  const { conflict, nothingToBind, noRoom, missingVolume } = reasons
  const localClass = aClass('local')
  const immediate = aClass('now', { volumeBindingMode: 'Immediate', provisioner: 'd' })
  const cases: [string, string[], KubeObject[], string[]][] = [
    ['no claims', [], [], both('')],
    ['no such claim', ['c'], [], both('persistentvolumeclaim "c" not found')],
    ['bound', ['c'], [aClaim('c', { volumeName: 'v' }), aVolume('v')], both('')],
    ['bound on one node', ['c'], [aClaim('c', { volumeName: 'v' }), aVolume('v', onlyOn('b'))], [conflict, '']],
    ['bound to a deleted volume', ['c'], [aClaim('c', { volumeName: 'v' })], both(missingVolume)],
    [
      'lost',
      ['c'],
      [{ ...aClaim('c', { volumeName: 'v' }), status: { phase: 'Lost' } } as KubeObject],
      both('persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'),
    ],
    [
      'deleted',
      ['c'],
      [aClaim('c', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
      both('persistentvolumeclaim "c" is being deleted'),
    ],
    [
      'unbound, with immediate binding',
      ['c'],
      [aClaim('c', { storageClassName: 'now' }), immediate],
      both('pod has unbound immediate PersistentVolumeClaims'),
    ],
    ['without a class', ['c'], [aClaim('c')], both('pod has unbound immediate PersistentVolumeClaims')],
    [
      'of a missing class',
      ['c'],
      [aClaim('c', { storageClassName: 'now' })],
      both('pod has unbound immediate PersistentVolumeClaims'),
    ],
    ['a volume on one node', ['c'], [waiting('c'), localClass, local('v', 'a')], ['', nothingToBind]],
    ['a volume that is too small', ['c'], [waiting('c', '2Gi'), localClass, local('v', 'a')], both(nothingToBind)],
    [
      'two claims, one volume',
      ['c', 'd'],
      [waiting('c'), waiting('d'), localClass, local('v', 'a')],
      both(nothingToBind),
    ],
    [
      'the small claim leaves the large volume',
      ['c', 'd'],
      [waiting('c', '2Gi'), waiting('d'), localClass, local('v', 'a', '2Gi'), local('w', 'a', '1Gi')],
      ['', nothingToBind],
    ],
    [
      'a volume reserved for the claim',
      ['c'],
      [
        waiting('c'),
        localClass,
        local('v', 'a'),
        { ...local('w', 'b', '1Gi', { claimRef: { namespace: 'default', name: 'c' } }) },
      ],
      [nothingToBind, ''],
    ],
    ['one can be provisioned', ['c'], [makes('c'), made], both('')],
    [
      'one is being provisioned on a node',
      ['c'],
      [makes('c', { annotations: { 'volume.kubernetes.io/selected-node': 'b' } }), made],
      [nothingToBind, ''],
    ],
    [
      'one can be provisioned in some topologies',
      ['c'],
      [
        makes('c'),
        { ...made, allowedTopologies: [{ matchLabelExpressions: [{ key: 'kubernetes.io/hostname', values: ['a'] }] }] },
      ],
      ['', nothingToBind],
    ],
    [
      'the driver has capacity on one node',
      ['c'],
      [makes('c'), made, driver, capacity('a', '1Gi'), capacity('b', '1Mi')],
      ['', noRoom],
    ],
    [
      'both reasons',
      ['c', 'd'],
      [aClaim('c', { volumeName: 'v' }), aVolume('v', onlyOn('b')), makes('d'), made, driver, capacity('b', '1Gi')],
      [`${conflict}, ${noRoom}`, ''],
    ],
  ]
  for (const [title, claims, objects, expected] of cases)
    assert.deepEqual(verdicts(aPodWith('p', claims), objects), expected, title)
})

test('ephemeral volumes wait for their claims, which the pod must own', () => {
  const pod = aPod('p', { volumes: [{ name: 'v', ephemeral: {} }] })
  assert.deepEqual(
    verdicts(pod, []),
    both('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'),
  )
  assert.deepEqual(
    verdicts(pod, [aClaim('p-v', { volumeName: 'x' })]),
    both('PVC default/p-v was not created for pod default/p (pod is not owner)'),
  )
})

test('volumes reserved for a pod are not free for the next until they are unreserved', () => {
  const cluster = { nodes, objects: [waiting('c'), waiting('d'), aClass('local'), local('v', 'a')] }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(volumeBinding, cluster, handleOf(cluster, snapshot))
  const [first, second] = [new PodInfo(aPodWith('p', ['c'])), new PodInfo(aPodWith('q', ['d']))]
  const [a] = snapshot.nodes
  const attempt = (pod: PodInfo) => {
    const prepared = plugin.preFilter?.(pod, snapshot)
    assert.ok(prepared && 'state' in prepared && a)
    return { state: prepared.state, reasons: plugin.filter?.(prepared.state, pod, a)?.reasons ?? [] }
  }
  const { state } = attempt(first)
  plugin.reserve?.(state, first, 'a')
  assert.deepEqual(attempt(second).reasons, [reasons.nothingToBind])
  assert.equal(plugin.needsPreBind?.(state, first, 'a'), true)
  plugin.unreserve?.(state, first, 'a')
  assert.deepEqual(attempt(second).reasons, [])
})

test('volumes are scored with the configured shape', () => {
  const shape = [
    { utilization: 0, score: 0 },
    { utilization: 50, score: 10 },
    { utilization: 100, score: 0 },
  ]
  const binds = (size: string) => ({
    bindings: [{ claim: waiting('c'), volume: local('v', 'a', size) }],
    provisions: [],
  })
  assert.deepEqual(
    ['1Gi', '2Gi', '4Gi'].map((size) => scoreVolumes(binds(size), shape)),
    [0, 100, 50],
  )
  assert.equal(
    scoreVolumes({ bindings: [], provisions: [{ claim: makes('c'), capacity: capacity('a', '4Gi') }] }, shape),
    50,
  )
  assert.equal(scoreVolumes({ bindings: [], provisions: [{ claim: makes('c') }] }, shape), 0)
})

test('a pod is bound when all its claims are; a failure ends the attempt', () => {
  const pod = aPodWith('p', ['c'])
  const selected = { annotations: { 'volume.kubernetes.io/selected-node': 'a' } }
  const provisions = { bindings: [], provisions: [{ claim: makes('c') }] }
  const bindings = { bindings: [{ claim: waiting('c'), volume: local('v', 'a') }], provisions: [] }
  const owned = local('v', 'a', '1Gi', { claimRef: { uid: 'uid-of-c' } })
  const done = (
    found: Parameters<typeof isBindingComplete>[0],
    live: { claim?: PersistentVolumeClaim; volume?: PersistentVolume; pod?: Pod },
  ): boolean | string => {
    try {
      return isBindingComplete(found, new PodInfo(pod), 'a', {
        node: (name) => nodes.find(({ metadata }) => metadata.name === name),
        pod: () => ('pod' in live ? live.pod : pod),
        claim: () => live.claim,
        volume: () => live.volume,
      })
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
  }
  assert.equal(done(bindings, { claim: waiting('c'), volume: owned }), false)
  assert.equal(done(bindings, { claim: aClaim('c', { volumeName: 'v' }), volume: owned }), true)
  assert.equal(done(bindings, { claim: waiting('c'), volume: local('v', 'a') }), 'ClaimRef got reset for pv "v"')
  assert.equal(done(provisions, { claim: makes('c', selected) }), false)
  assert.equal(done(provisions, { claim: makes('c', { annotations: {} }) }), 'provisioning failed for PVC "default/c"')
  assert.equal(done(provisions, { claim: makes('c') }), 'selectedNode annotation reset for PVC "default/c"')
  assert.equal(
    done(provisions, { claim: { ...makes('c', selected), spec: { volumeName: 'v' } }, volume: local('v', 'b') }),
    `pv "v" node affinity doesn't match node "a": no matching NodeSelectorTerms`,
  )
  assert.match(
    String(done(provisions, { claim: makes('c', selected), pod: undefined })),
    /^pod does not exist any more/,
  )
})

test('a waiter checks its condition after each change, until a timeout or an abort', async () => {
  const waiters = new Waiters(systemClock)
  let isTrue = false
  const abort = new AbortController()
  const waits = waiters.until(() => isTrue, 60_000, abort.signal)
  isTrue = true
  waiters.check()
  await waits
  await assert.rejects(
    waiters.until(() => false, 1, abort.signal),
    /context deadline exceeded/,
  )
  const inVain = waiters.until(() => false, 60_000, abort.signal)
  abort.abort(new Error('others have the place'))
  await assert.rejects(inVain, /others have the place/)
  await assert.rejects(
    waiters.until(() => true, 60_000, abort.signal),
    /others have the place/,
  )
})
