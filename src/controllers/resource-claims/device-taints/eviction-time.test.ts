import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, ResourceClaim, ResourceSlice } from '../../../client/kinds.ts'
import { type DeviceTaint, evictionTime, isReservedFor, taintsOfDevice } from './eviction-time.ts'

const added = '2026-01-01T00:00:00Z'
const taint: DeviceTaint = { key: 'sick', value: 'very', effect: 'NoExecute', timeAdded: added }

const claim = (tolerations?: object[]): ResourceClaim =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'c' },
    spec: {},
    status: {
      allocation: { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: 'gpu', tolerations }] } },
    },
  }) as ResourceClaim

test('evictionTime is the end of the toleration', () => {
  const time = (tolerations: object[], taints = [taint]) =>
    (evictionTime(claim(tolerations), () => taints) - Date.parse(added)) / 1000
  assert.equal(time([]), 0)
  assert.equal(time([{ operator: 'Exists' }]), Infinity)
  assert.equal(time([{ key: 'sick', value: 'very', tolerationSeconds: 30 }]), 30)
  assert.equal(time([{ key: 'sick', value: 'little' }]), 0)
  assert.equal(time([{ key: 'sick', operator: 'Exists', effect: 'NoSchedule' }]), 0)
  assert.equal(time([], [{ ...taint, effect: 'NoSchedule' }]), Infinity)
})

test('the shortest of several tolerations counts unless one is unlimited', () => {
  const time = (...seconds: (number | undefined)[]) =>
    (evictionTime(claim(seconds.map((tolerationSeconds) => ({ operator: 'Exists', tolerationSeconds }))), () => [
      taint,
    ]) -
      Date.parse(added)) /
    1000
  assert.equal(time(60, 30), 30)
  // The client reads integers beyond 2^53 as bigints.
  assert.equal(time(60, (2n ** 63n - 1n) as unknown as number), 60)
  assert.equal(time(60, undefined), Infinity)
  assert.equal(time(60, -5), 0)
})

test('isReservedFor checks the reservation and, for generated claims, the owner', () => {
  const pod = (claims: object[]): Pod =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', uid: 'u' },
      spec: { containers: [], resourceClaims: claims },
    }) as Pod
  const named = pod([{ name: 'a', resourceClaimName: 'c' }])
  const generated = pod([{ name: 'a', resourceClaimTemplateName: 't' }])
  const claimOf = (user: string, owner?: string): ResourceClaim => ({
    ...claim(),
    metadata: {
      name: 'c',
      ...(owner && { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: owner, controller: true }] }),
    },
    status: { reservedFor: [{ resource: 'pods', name: 'p', uid: user }] },
  })
  assert.equal(isReservedFor(claimOf('u'), named), true)
  assert.equal(isReservedFor(claimOf('u', 'previous'), named), true)
  assert.equal(isReservedFor(claimOf('previous'), named), false)
  assert.equal(isReservedFor(claimOf('u', 'u'), generated), true)
  assert.equal(isReservedFor(claimOf('u', 'previous'), generated), false)
  assert.equal(isReservedFor(claimOf('previous', 'u'), generated), false)
})

test('only slices of the newest pool generation count', () => {
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
