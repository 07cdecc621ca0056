import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceClaim, ResourceSlice } from '../../../client/kinds.ts'
import { type DeviceTaint, evictionTime, taintsOfDevice } from './eviction-time.ts'

const added = '2026-01-01T00:00:00Z'
const taint: DeviceTaint = { key: 'sick', value: 'very', effect: 'NoExecute', timeAdded: added }

const claim = (tolerations?: object[]): ResourceClaim =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'c' },
    spec: {},
    status: { allocation: { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: 'gpu', tolerations }] } } },
  }) as ResourceClaim

test('devices may be used until their taints are not tolerated any longer', () => {
  const time = (tolerations: object[], taints = [taint]) => (evictionTime(claim(tolerations), () => taints) - Date.parse(added)) / 1000
  assert.equal(time([]), 0)
  assert.equal(time([{ operator: 'Exists' }]), Infinity)
  assert.equal(time([{ key: 'sick', value: 'very', tolerationSeconds: 30 }]), 30)
  assert.equal(time([{ key: 'sick', value: 'little' }]), 0)
  assert.equal(time([{ key: 'sick', operator: 'Exists', effect: 'NoSchedule' }]), 0)
  assert.equal(time([], [{ ...taint, effect: 'NoSchedule' }]), Infinity)
})

test('only the newest slices of a pool count', () => {
  const slice = (generation: number, taints: DeviceTaint[]): ResourceSlice =>
    ({
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceSlice',
      metadata: { name: `s${generation}` },
      spec: { driver: 'd', pool: { name: 'p', generation, resourceSliceCount: 1 }, devices: [{ name: 'gpu', taints }] },
    }) as ResourceSlice
  assert.deepEqual(taintsOfDevice([slice(1, [taint]), slice(2, [])], 'gpu'), [])
  assert.deepEqual(taintsOfDevice([slice(1, []), slice(2, [taint])], 'gpu'), [taint])
  assert.deepEqual(taintsOfDevice([], 'gpu'), [])
})
