import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, ResourceClaim, ResourceSlice } from '../../../client/kinds.ts'
import { type DeviceTaint, evictionTime, isFor, taintsOfDevice } from './eviction-time.ts'

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

test('devices may be used until their taints are not tolerated any longer', () => {
  const time = (tolerations: object[], taints = [taint]) =>
    (evictionTime(claim(tolerations), () => taints) - Date.parse(added)) / 1000
  assert.equal(time([]), 0)
  assert.equal(time([{ operator: 'Exists' }]), Infinity)
  assert.equal(time([{ key: 'sick', value: 'very', tolerationSeconds: 30 }]), 30)
  assert.equal(time([{ key: 'sick', value: 'little' }]), 0)
  assert.equal(time([{ key: 'sick', operator: 'Exists', effect: 'NoSchedule' }]), 0)
  assert.equal(time([], [{ ...taint, effect: 'NoSchedule' }]), Infinity)
})

test('of several tolerations, the first that ends counts, unless one never does', () => {
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

test('a claim is for the pod that it is reserved for; one that was made for a pod, for that pod only', () => {
  const pod = (claims: object[]): Pod =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', uid: 'u' },
      spec: { containers: [], resourceClaims: claims },
    }) as Pod
  const named = pod([{ name: 'a', resourceClaimName: 'c' }])
  const made = pod([{ name: 'a', resourceClaimTemplateName: 't' }])
  const claimOf = (user: string, owner?: string): ResourceClaim => ({
    ...claim(),
    metadata: {
      name: 'c',
      ...(owner && { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: owner, controller: true }] }),
    },
    status: { reservedFor: [{ resource: 'pods', name: 'p', uid: user }] },
  })
  assert.equal(isFor(claimOf('u'), named), true)
  assert.equal(isFor(claimOf('u', 'before'), named), true)
  assert.equal(isFor(claimOf('before'), named), false)
  assert.equal(isFor(claimOf('u', 'u'), made), true)
  assert.equal(isFor(claimOf('u', 'before'), made), false)
  assert.equal(isFor(claimOf('before', 'u'), made), false)
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
