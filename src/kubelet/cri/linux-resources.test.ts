import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod, PodSpec } from '../pod-types.ts'
import { linuxResources, type NodeResources, sandboxResources } from './linux-resources.ts'

const node: NodeResources = {
  memory: 1000n << 20n,
  hugePageSizes: ['2MB'],
  cgroupVersion: 1,
  hasSwapLimit: true,
  hasQuota: true,
  killsSingleProcess: true,
}

const container = (resources: object, more: object = {}): Container => ({ name: 'a', resources, ...more })

const podOf = (spec: Partial<PodSpec>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', uid: 'u' },
  spec: { containers: [], ...spec },
})

test('a limit of CPU time without a request is the weight, too', () => {
  const limited = container({ limits: { cpu: '500m', memory: '64Mi', 'hugepages-2Mi': '4Mi' } })
  assert.deepEqual(linuxResources(podOf({ containers: [limited] }), limited, node), {
    cpuShares: 512n,
    cpuPeriod: 100_000n,
    cpuQuota: 50_000n,
    memoryLimitInBytes: 64n << 20n,
    memorySwapLimitInBytes: 64n << 20n,
    oomScoreAdj: 999n,
    hugepageLimits: [{ pageSize: '2MB', limit: 4n << 20n }],
    unified: {},
  })
})

test('a container without limits has those of its pod, and a share of its request', () => {
  const own = container({ requests: { memory: '100Mi' }, limits: { cpu: '250m' } })
  const other = { ...container({}), name: 'b' }
  const resources = { requests: { memory: '300Mi' }, limits: { cpu: '1', memory: '400Mi' } }
  const pod = podOf({ containers: [own, other], resources })
  const { cpuQuota, memoryLimitInBytes, oomScoreAdj } = linuxResources(pod, own, node)
  assert.deepEqual([cpuQuota, memoryLimitInBytes], [25_000n, 400n << 20n])
  // 100Mi of its own, and half of the 200Mi that no container requests.
  assert.equal(oomScoreAdj, 800n)
  assert.equal(linuxResources(pod, other, node).oomScoreAdj, 900n)
})

test('a sidecar is not killed before the containers that need it', () => {
  const sidecar = { ...container({ requests: { memory: '1Mi' } }), name: 's', restartPolicy: 'Always' }
  const main = container({ requests: { memory: '500Mi' } })
  const pod = podOf({ initContainers: [sidecar], containers: [main] })
  assert.equal(linuxResources(pod, sidecar, node).oomScoreAdj, 500n)
})

test('of a cgroup v2 all processes are killed together, and none swaps', () => {
  const v2: NodeResources = { ...node, cgroupVersion: 2, killsSingleProcess: false }
  const plain = container({})
  const { unified, memorySwapLimitInBytes } = linuxResources(podOf({ containers: [plain] }), plain, v2)
  assert.deepEqual(unified, { 'memory.oom.group': '1', 'memory.swap.max': '0' })
  assert.equal(memorySwapLimitInBytes, undefined)
})

test('a sandbox has the resources of its pod, and its overhead apart', () => {
  const limits = { cpu: '500m', memory: '64Mi' }
  const pod = podOf({ containers: [container({ limits, requests: limits })], overhead: { cpu: '100m', memory: '8Mi' } })
  const { resources, overhead } = sandboxResources(pod, node)
  assert.deepEqual([resources.cpuQuota, resources.memoryLimitInBytes], [50_000n, 64n << 20n])
  assert.deepEqual([overhead.cpuQuota, overhead.memoryLimitInBytes], [10_000n, 8n << 20n])
})
