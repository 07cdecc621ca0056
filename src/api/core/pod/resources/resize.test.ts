import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../model.ts'
import { resetAllButResources, resizeRules } from './resize.ts'

type Containers = NonNullable<Pod['spec']>['containers']
type Resources = NonNullable<Containers[number]['resources']>

const pod = (containers: Partial<Containers[number]>[], initContainers: Partial<Containers[number]>[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    containers: containers.map((one) => ({ name: 'c', ...one })),
    initContainers: initContainers.map((one) => ({ name: 'i', ...one })),
  },
})

/** Returns the errors of a resize from one pod to the other. */
function faults(old: Pod, next: Pod): string[] {
  const sent = structuredClone(next)
  resetAllButResources(sent, old)
  return resizeRules(sent, old).map(({ field, message }) => `${field}: ${message}`)
}

const change = (old: Resources, next: Resources): string[] =>
  faults(pod([{ resources: old }]), pod([{ resources: next }]))

test('a resize may change and add amounts of CPU and memory', () => {
  const old = { requests: { cpu: '1', memory: '1Gi' } }
  assert.deepEqual(change(old, { requests: { cpu: '1500m', memory: '2Gi' } }), [])
  assert.deepEqual(change(old, { requests: { cpu: '1000m', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } }), [])
  assert.deepEqual(change({ requests: { cpu: '1' } }, { requests: { cpu: '1', memory: '1Gi' } }), [])
})

test('a resize cannot remove amounts, change other fields or change the QoS class', () => {
  const old = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } }
  assert.deepEqual(change(old, { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } }), [
    'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
  ])
  assert.deepEqual(change(old, { requests: { cpu: '1' }, limits: old.limits }), [
    'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
  ])
  assert.deepEqual(change(old, { ...old, requests: { ...old.requests, 'ephemeral-storage': '1Gi' } }), [
    'spec: Forbidden: only cpu and memory resources are mutable',
  ])
  assert.deepEqual(change({}, { requests: { cpu: '1' } }), [
    'spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing',
  ])
})

test('a resize of init containers must not restart them', () => {
  const [small, large] = [{ resources: { requests: { cpu: '1' } } }, { resources: { requests: { cpu: '2' } } }]
  assert.deepEqual(faults(pod([small], [small]), pod([small], [large])), [])
  const policy = { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }
  assert.deepEqual(faults(pod([small], [{ ...small, ...policy }]), pod([small], [{ ...large, ...policy }])), [
    'spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer ' +
      'cannot be resized',
  ])
  const sidecar = { restartPolicy: 'Always' }
  assert.deepEqual(faults(pod([small], [{ ...small, ...sidecar }]), pod([small], [{ ...large, ...sidecar }])), [])
  const disk = { resources: { requests: { cpu: '1', 'ephemeral-storage': '1Gi' } } }
  assert.deepEqual(faults(pod([small], [small]), pod([small], [disk])), [
    'spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
  ])
})

test('a resize cannot add, remove, rename or reorder containers', () => {
  const small = { resources: { requests: { cpu: '1' } } }
  assert.deepEqual(faults(pod([small]), pod([small, { name: 'd' }])), [
    'spec.containers: Forbidden: containers may not be added or removed on resize',
  ])
  assert.deepEqual(faults(pod([small]), pod([{ ...small, name: 'd' }])), [
    'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
  ])
  const policy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
  assert.deepEqual(faults(pod([small]), pod([{ ...small, resizePolicy: policy }])), [
    'spec: Forbidden: only cpu and memory resources are mutable',
  ])
})

test('a resize of pod-level resources needs a node that supports it', () => {
  const whole = (resources: Resources | undefined, status?: Pod['status']): Pod => {
    const one = pod([{}])
    return { ...one, spec: { ...one.spec, containers: one.spec?.containers ?? [], resources }, status }
  }
  const requested = { requests: { cpu: '1', memory: '1Gi' } }
  assert.deepEqual(faults(whole(requested), whole({ requests: { cpu: '2', memory: '1Gi' } })), [])
  assert.deepEqual(faults(whole(requested), whole({ requests: { cpu: '2' } })), [
    'spec.resources.requests: Forbidden: pod-level resource requests cannot be removed',
  ])
  assert.deepEqual(
    faults(whole({ requests: { cpu: '1' } }, undefined), whole({ requests: { cpu: '1', 'hugepages-2Mi': '2Mi' } })),
    ['spec: Forbidden: only cpu and memory resources are mutable at pod-level'],
  )
  assert.equal(
    faults(whole(requested), whole(undefined))[1],
    'spec.resources: Forbidden: pod-level resources cannot be removed',
  )
  const running = { containerStatuses: [{ name: 'c', state: { running: {} } }] } as unknown as Pod['status']
  assert.deepEqual(faults(whole(requested, running), whole(requested)), [
    'spec: Forbidden: Pod running on node without support for resize',
  ])
})
