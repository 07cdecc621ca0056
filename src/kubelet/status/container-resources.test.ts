import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { ContainerState, ContainerStatusSchema } from '#protobuf/cri-runtime_pb.js'
import type { Container, ContainerStatus } from '../pod-types.ts'
import { containerResources } from './container-resources.ts'
import { podLevelResources } from './pod-level-resources.ts'

const container = (resources: object): Container => ({ name: 'main', resources })

const instance = (linux: object | undefined, state: ContainerState = ContainerState.CONTAINER_RUNNING) =>
  create(ContainerStatusSchema, { id: 'c', state, ...(linux && { resources: { linux } }) })

const allocated = { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '500m', memory: '64Mi' } }

test('a running container has the resources that the runtime reports', () => {
  const linux = { cpuShares: 204n, cpuQuota: 100_000n, cpuPeriod: 100_000n, memoryLimitInBytes: 128n << 20n }
  assert.deepEqual(containerResources(container(allocated), instance(linux), undefined, undefined), {
    allocatedResources: { cpu: '100m', memory: '32Mi' },
    resources: { requests: { cpu: '200m', memory: '32Mi' }, limits: { cpu: '1', memory: '128Mi' } },
  })
})

test('for a runtime that reports none, it has those that the kubelet has given to it', () => {
  const actual = { requests: { cpu: '50m', memory: '16Mi' }, limits: { cpu: '250m', memory: '32Mi' } }
  const { resources } = containerResources(container(allocated), instance(undefined), actual, undefined)
  assert.deepEqual(resources, actual)
})

test('the smallest amounts of CPU are shown as they were allocated', () => {
  const tiny = { requests: { cpu: '1m' }, limits: { cpu: '5m' } }
  const linux = { cpuShares: 2n, cpuQuota: 1000n, cpuPeriod: 100_000n }
  assert.deepEqual(containerResources(container(tiny), instance(linux), undefined, undefined).resources, tiny)
})

test('amounts that nobody reports are those of the status before, for the same container', () => {
  const before = { containerID: 'containerd://c', state: { running: {} }, resources: { limits: { memory: '1Gi' } } }
  const { resources } = containerResources(
    container({ limits: { memory: '2Gi' } }),
    instance(undefined),
    undefined,
    before as never as ContainerStatus,
  )
  assert.deepEqual(resources, { limits: { memory: '1Gi' } })
})

test('a container that does not run has its allocated resources; without an instance it has none', () => {
  const ended = instance({ cpuShares: 1024n }, ContainerState.CONTAINER_EXITED)
  assert.deepEqual(containerResources(container(allocated), ended, undefined, undefined).resources, allocated)
  assert.deepEqual(containerResources(container({}), undefined, undefined, undefined), {})
  assert.deepEqual(containerResources(container({}), instance(undefined), undefined, undefined), { resources: {} })
})

test('a running pod has the resources of its cgroup', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: [container(allocated)] },
    status: { phase: 'Running' },
  }
  const cgroup = { cpuShares: 204n, cpuQuota: 100_000n, cpuPeriod: 100_000n, memory: 128n << 20n }
  assert.deepEqual(podLevelResources(pod, cgroup), {
    resources: { requests: { cpu: '200m', memory: '32Mi' }, limits: { cpu: '1', memory: '128Mi' } },
    allocatedResources: { cpu: '100m', memory: '32Mi' },
  })
  const pending = { ...pod, status: { phase: 'Pending' } }
  assert.deepEqual(podLevelResources(pending, undefined).resources, allocated)
})
