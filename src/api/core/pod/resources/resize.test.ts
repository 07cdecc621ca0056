import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../model.ts'
import { onlyResources, resizeRules } from './resize.ts'

type Containers = NonNullable<Pod['spec']>['containers']
type Resources = NonNullable<Containers[number]['resources']>

const pod = (containers: Partial<Containers[number]>[], initContainers: Partial<Containers[number]>[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: containers.map((one) => ({ name: 'c', ...one })), initContainers: initContainers.map((one) => ({ name: 'i', ...one })) },
})

/** What is said of a resize from one to the other. */
function faults(old: Pod, next: Pod): string[] {
  const sent = structuredClone(next)
  onlyResources(sent, old)
  return resizeRules(sent, old).map(({ field, message }) => `${field}: ${message}`)
}

const change = (old: Resources, next: Resources): string[] => faults(pod([{ resources: old }]), pod([{ resources: next }]))

test('a resize changes amounts of CPU and memory, and adds some', () => {
  const old = { requests: { cpu: '1', memory: '1Gi' } }
  assert.deepEqual(change(old, { requests: { cpu: '1500m', memory: '2Gi' } }), [])
  assert.deepEqual(change(old, { requests: { cpu: '1000m', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } }), [])
  assert.deepEqual(change({ requests: { cpu: '1' } }, { requests: { cpu: '1', memory: '1Gi' } }), [])
  const policy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
  assert.deepEqual(faults(pod([{ resources: old }]), pod([{ resources: old, resizePolicy: policy }])), [])
})

test('a resize takes nothing away, changes nothing else, and keeps the quality of service', () => {
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
  assert.deepEqual(change({}, { requests: { cpu: '1' } }), ['spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing'])
})

test('of init containers, only sidecars are resized', () => {
  const [small, large] = [{ resources: { requests: { cpu: '1' } } }, { resources: { requests: { cpu: '2' } } }]
  assert.deepEqual(faults(pod([small], [small]), pod([small], [large])), ['spec: Forbidden: resources for non-sidecar init containers are immutable'])
  const sidecar = { restartPolicy: 'Always' }
  assert.deepEqual(faults(pod([small], [{ ...small, ...sidecar }]), pod([small], [{ ...large, ...sidecar }])), [])
})
