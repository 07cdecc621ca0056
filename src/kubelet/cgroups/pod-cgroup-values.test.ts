import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hugePageName } from '../../node/cgroups/tree/cgroup-values.ts'
import type { Pod, PodSpec } from '../pod-types.ts'
import { cgroupPath, partOfFolder } from './cgroup-names.ts'
import { podCgroupValues } from './pod-cgroup-values.ts'

type Amounts = Readonly<Record<string, string>>

const container = (name: string, requests: Amounts, limits: Amounts = {}, more: object = {}) => ({
  name,
  resources: { requests: { ...requests }, limits: { ...limits } },
  ...more,
})

const podOf = (spec: PodSpec): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', uid: 'u' }, spec })

const noPages = { hugePages: new Map() }

test('a pod without resources has the smallest weight and no limits', () => {
  const values = podCgroupValues(podOf({ containers: [container('a', {})] }), true)
  assert.deepEqual(values, { cpuShares: 2n, ...noPages })
})

test('a guaranteed pod has the sum of its limits with its overhead', () => {
  const amounts = { cpu: '250m', memory: '64Mi' }
  const containers = [container('a', amounts, amounts), container('b', amounts, amounts)]
  const values = podCgroupValues(podOf({ containers, overhead: { cpu: '100m', memory: '16Mi' } }), true)
  assert.deepEqual(values, {
    cpuShares: 614n,
    cpuQuota: 60_000n,
    cpuPeriod: 100_000n,
    memory: 144n << 20n,
    ...noPages,
  })
})

test('a burstable pod has a limit of a resource if all its containers have', () => {
  const containers = [
    container('a', { cpu: '100m' }, { cpu: '200m', memory: '64Mi' }),
    container('b', { cpu: '100m' }, { cpu: '200m' }),
  ]
  const expected = { cpuShares: 204n, cpuQuota: 40_000n, cpuPeriod: 100_000n, ...noPages }
  assert.deepEqual(podCgroupValues(podOf({ containers }), true), expected)
  assert.equal(podCgroupValues(podOf({ containers }), false).cpuQuota, -1n)
  const unlimited = container('i', {})
  assert.equal(podCgroupValues(podOf({ initContainers: [unlimited], containers }), true).cpuQuota, undefined)
})

test('the limits of the pod itself come before those of its containers', () => {
  const containers = [container('a', { cpu: '100m' }), container('b', {})]
  const resources = { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '128Mi' } }
  const values = podCgroupValues(podOf({ containers, resources }), true)
  assert.deepEqual(values, {
    cpuShares: 512n,
    cpuQuota: 100_000n,
    cpuPeriod: 100_000n,
    memory: 128n << 20n,
    ...noPages,
  })
})

test('huge pages are named by their size', () => {
  assert.deepEqual([2n << 20n, 1n << 30n, 64n << 10n].map(hugePageName), ['2MB', '1GB', '64KB'])
  const pages = { 'hugepages-2Mi': '4Mi', cpu: '1' }
  const { hugePages } = podCgroupValues(podOf({ containers: [container('a', pages, pages)] }), true)
  assert.deepEqual(hugePages, new Map([['2MB', 4n << 20n]]))
})

test('the driver decides the path of a cgroup', () => {
  const name = ['kubepods', 'burstable', 'pod1234-abcd']
  assert.equal(cgroupPath('cgroupfs', name), '/kubepods/burstable/pod1234-abcd')
  const path = cgroupPath('systemd', name)
  assert.equal(path, '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1234_abcd.slice')
  assert.equal(partOfFolder('systemd', path.split('/').at(-1)!), 'pod1234-abcd')
})
