import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claim, type NamedObject, persistentVolume, podUid, podWith, TestObjects } from '../volumes.fixture.ts'
import { volumeSpec } from './volume-specs.ts'

const volume = { name: 'data', persistentVolumeClaim: { claimName: 'data', readOnly: true } }
const bound = persistentVolume('data', { hostPath: { path: '/srv' } })

const specFor = (...objects: readonly NamedObject[]) =>
  volumeSpec(podWith([volume]), volume, new TestObjects(...objects))

test('a claim leads to its persistent volume', async () => {
  assert.deepEqual(await specFor(claim('data'), bound), {
    podName: 'data',
    name: 'pv-data',
    persistentVolume: bound,
    isReadOnly: true,
  })
})

const { metadata } = claim('data')
const fetching = 'failed to fetch PVC from API server'

for (const [message, objects] of [
  [`${fetching}: persistentvolumeclaims "data" not found`, []],
  ['PVC is being deleted', [claim('data', { metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })]],
  ['PVC is not bound', [claim('data', { status: { phase: 'Pending' } })]],
  ['PVC has empty pvc.Spec.VolumeName', [claim('data', { spec: {} })]],
  ['failed to fetch PV pv-data from API server: persistentvolumes "pv-data" not found', [claim('data')]],
  [
    'found PV object pv-data but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim',
    [claim('data'), { ...bound, spec: { hostPath: { path: '/srv' } } }],
  ],
  [
    'found PV object pv-data but its pv.Spec.ClaimRef.UID uid-data does not point to claim.UID new',
    [claim('data', { metadata: { ...metadata, uid: 'new' } }), bound],
  ],
] as const)
  test(`a claim cannot be used: ${message}`, () =>
    assert.rejects(specFor(...objects), { message: `error processing PVC default/data: ${message}` }))

test('an API that cannot be reached is in the message', async () => {
  const objects = new TestObjects()
  objects.claim = async () => {
    throw new Error('connection refused')
  }
  await assert.rejects(volumeSpec(podWith([volume]), volume, objects), {
    message: 'error processing PVC default/data: failed to fetch PVC from API server: connection refused',
  })
})

test('the claim of an ephemeral volume is named after the pod, and must be its own', async () => {
  const ephemeral = { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } }
  const pod = podWith([ephemeral])
  const own = claim('web-scratch', {
    metadata: {
      namespace: 'default',
      name: 'web-scratch',
      uid: 'uid-web-scratch',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: podUid, controller: true }],
    },
  })
  const target = persistentVolume('web-scratch', { hostPath: { path: '/srv' } })
  assert.equal((await volumeSpec(pod, ephemeral, new TestObjects(own, target))).name, 'pv-web-scratch')
  await assert.rejects(volumeSpec(pod, ephemeral, new TestObjects(claim('web-scratch'), target)), {
    message: 'PVC default/web-scratch was not created for pod default/web (pod is not owner)',
  })
})

test('the mode of a volume must fit its use', async () => {
  const block = persistentVolume('data', { local: { path: '/dev/x' }, volumeMode: 'Block' })
  await assert.rejects(specFor(claim('data'), block), {
    message: 'volume data has volumeMode Block, but is specified in volumeMounts',
  })
  const containers = [{ name: 'main', volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }]
  const pod = podWith([volume], { containers })
  await assert.rejects(volumeSpec(pod, volume, new TestObjects(claim('data'), bound)), {
    message: 'volume data has volumeMode Filesystem, but is specified in volumeDevices',
  })
  assert.equal((await volumeSpec(pod, volume, new TestObjects(claim('data'), block))).name, 'pv-data')
})
