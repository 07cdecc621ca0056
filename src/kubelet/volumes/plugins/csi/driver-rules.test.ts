import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CSIDriver, PersistentVolumeClaim } from '../../../../client/kinds.ts'
import { podWith } from '../../volumes.fixture.ts'
import { accessModeOf, type CsiVolume, csiVolumeOf } from './csi-volume.ts'
import { Capability } from './driver/csi-driver-client.ts'
import { CsiDrivers } from './driver/csi-drivers.ts'
import { checkLifecycle, setsGroup } from './driver-rules.ts'
import { completedResize } from './volume-expansion.ts'

const driver = (spec: CSIDriver['spec']): CSIDriver => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'd' },
  spec,
})

function volume(fields: Partial<CsiVolume> = {}): CsiVolume {
  const spec = { podName: 'v', name: 'v', volume: { name: 'v', csi: { driver: 'd' } }, isReadOnly: false }
  return { ...csiVolumeOf(podWith([{ name: 'v' }]), spec)!, ...fields }
}

test('the handle of an inline volume is a hash of the pod and the name', () => {
  const { handle, isEphemeral } = volume()
  assert.match(handle, /^csi-[0-9a-f]{64}$/)
  assert.equal(isEphemeral, true)
})

test('a driver has persistent volumes by default, and inline ones if its object says so', () => {
  assert.throws(() => checkLifecycle(volume(), undefined), {
    message: 'volume mode "Ephemeral" not supported by driver d (no CSIDriver object)',
  })
  assert.throws(() => checkLifecycle(volume(), driver({})), {
    message: 'volume mode "Ephemeral" not supported by driver d (only supports ["Persistent"])',
  })
  checkLifecycle(volume(), driver({ volumeLifecycleModes: ['Ephemeral'] }))
  checkLifecycle(volume({ isEphemeral: false }), undefined)
})

test('the group is set by the policy of the driver', () => {
  const disk = volume({ isEphemeral: false, fsType: 'ext4', accessModes: ['ReadWriteOnce'] })
  assert.equal(setsGroup(disk, undefined), true)
  assert.equal(setsGroup({ ...disk, fsType: '' }, undefined), false)
  assert.equal(setsGroup({ ...disk, accessModes: ['ReadWriteMany'] }, undefined), false)
  assert.equal(setsGroup({ ...disk, fsType: '' }, driver({ fsGroupPolicy: 'File' })), true)
  assert.equal(setsGroup(disk, driver({ fsGroupPolicy: 'None' })), false)
  assert.equal(setsGroup({ ...disk, isReadOnly: true }, driver({ fsGroupPolicy: 'File' })), false)
})

test('the access mode is exact for drivers that distinguish writers of one node', () => {
  const exact = new Set([Capability.SINGLE_NODE_MULTI_WRITER])
  const cases = [
    ['ReadWriteOnce', 1, 7],
    ['ReadWriteOncePod', 1, 6],
    ['ReadOnlyMany', 3, 3],
    ['ReadWriteMany', 5, 5],
  ] as const
  for (const [mode, plainMode, exactMode] of cases) {
    assert.equal(accessModeOf(volume({ accessModes: [mode] }), new Set()), plainMode, mode)
    assert.equal(accessModeOf(volume({ accessModes: [mode] }), exact), exactMode, mode)
  }
})

test('drivers need a supported version, and a name of their own', (t) => {
  const drivers = new CsiDrivers()
  t.after(() => drivers.close())
  const failed = 'kubernetes.io/csi: RegisterPlugin for CSI driver "d" failed.'
  assert.throws(() => drivers.add('d', '/a', []), {
    message: `${failed} Plugin returned an empty list for supported versions`,
  })
  assert.throws(() => drivers.add('d', '/a', ['0.3.0']), /None of the versions specified \["0\.3\.0"\] are supported/)
  assert.throws(() => drivers.client('d'), {
    message: 'driver name d not found in the list of registered CSI drivers',
  })
  drivers.add('d', '/a', ['1.0.0', '1.2.0'])
  drivers.add('d', '/a', ['1.0.0'])
  assert.throws(() => drivers.add('d', '/b', ['1.0.0']), {
    message:
      `${failed} Another driver with the same name is already registered with a higher supported version: ` + '"1.0.0"',
  })
  drivers.add('d', '/b', ['1.1.0'])
  drivers.remove('d')
  assert.deepEqual(drivers.names, [])
})

test('the end of a resize removes its conditions only', () => {
  const claim = {
    status: {
      conditions: [
        { type: 'FileSystemResizePending', status: 'True' },
        { type: 'Other', status: 'True' },
      ],
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
    },
  } as unknown as PersistentVolumeClaim
  assert.deepEqual(completedResize(claim, '2Gi'), {
    capacity: { storage: '2Gi' },
    conditions: [{ type: 'Other', status: 'True' }],
    allocatedResourceStatuses: { storage: null },
  })
})
