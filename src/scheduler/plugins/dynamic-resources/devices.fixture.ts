/** Claims, classes and devices on node `a` for tests, and the allocation for them. */
import assert from 'node:assert/strict'
import type { DeviceClass, ResourceClaim, ResourceSlice } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { PodInfo } from '../../framework/index.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { handleOf, makePlugin, snapshotOf } from '../../testing/try-plugin.fixture.ts'
import type { Allocation, Device, ExactRequest, Request } from './allocation/devices.ts'
import { dynamicResources } from './index.ts'

export const driver = 'gpu.example.com'
export const nodes = [aNode('a'), aNode('b')]
export const aClass = (name: string, spec: DeviceClass['spec'] = {}): DeviceClass => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'DeviceClass',
  metadata: { name },
  spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }], ...spec },
})
export const aSlice = (name: string, spec: Partial<ResourceSlice['spec']>): ResourceSlice => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name },
  spec: {
    driver,
    nodeName: 'a',
    ...spec,
    pool: { name: spec.nodeName ?? 'a', generation: 1, resourceSliceCount: 1, ...spec.pool },
  },
})
export const aRequest = (more: Partial<ExactRequest> = {}): Request => ({
  name: 'r',
  exactly: {
    deviceClassName: 'gpu',
    allocationMode: 'ExactCount',
    ...(more.allocationMode !== 'All' && { count: 1 }),
    ...more,
  },
})
export const aClaim = (
  name: string,
  requests: Request[],
  devices: object = {},
  status: ResourceClaim['status'] = {},
): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { namespace: 'default', name, uid: `uid-of-${name}` },
  spec: { devices: { requests, ...devices } },
  status,
})
/** A pod that uses these claims. */
export const aPodWith = (...claims: string[]) =>
  aPod('p', { resourceClaims: claims.map((resourceClaimName) => ({ name: resourceClaimName, resourceClaimName })) })
/** A claim with an allocated device. */
export const taken = (name: string, device: string, more: object = {}): ResourceClaim =>
  aClaim(name, [], {}, { allocation: { devices: { results: [{ request: 'r', driver, pool: 'a', device, ...more }] } } })

export const gpus = (...devices: Device[]): ResourceSlice => aSlice('gpus', { devices })
export const gpu = (name: string, more: Partial<Device> = {}): Device => ({ name, ...more })
export const model = (name: string, value: string): Device => gpu(name, { attributes: { model: { string: value } } })

/** The devices of each claim on node a, or the reason why there are none. */
export function devicesOnNodeA(claims: ResourceClaim[], slices: ResourceSlice[], others: KubeObject[] = []): string {
  const cluster = { nodes, objects: [aClass('gpu'), ...slices, ...claims, ...others] }
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(dynamicResources, cluster, handleOf(cluster, snapshot))
  const pod = new PodInfo(aPodWith(...claims.map(({ metadata }) => metadata.name ?? '')))
  const prepared = plugin.preFilter?.(pod, snapshot)
  if (!prepared || 'code' in prepared) return prepared?.reasons.join(', ') ?? ''
  const [a] = snapshot.nodes
  assert.ok(a)
  const state = prepared.state as { byNode: Map<string, { allocations: Allocation[] }> }
  const reasons = plugin.filter?.(state, pod, a)?.reasons
  if (reasons) return reasons.join(', ')
  const named = (allocation: Allocation): string =>
    (allocation.devices?.results ?? []).map(({ request, device }) => `${request}=${device}`).join(' ')
  return state.byNode.get('a')?.allocations.map(named).join('; ') ?? 'as allocated'
}

export const noDevices = 'cannot allocate all claims'
