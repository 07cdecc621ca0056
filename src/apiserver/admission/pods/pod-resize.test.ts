import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podOf } from './pod.fixture.ts'
import { resizeFault } from './pod-resize.ts'

const node = (system: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', ...(system && { labels: { 'kubernetes.io/os': system } }) },
  status: { allocatable: { cpu: '2', memory: '1Gi' } },
})
const pod = (cpu: string, memory: string) =>
  podOf({ containers: [{ name: 'c', image: 'i', resources: { requests: { cpu, memory } } }] })

test('a pod that fits on its Linux node may be resized', () => {
  assert.equal(resizeFault(pod('2', '1Gi'), node('linux')), undefined)
})

test('insufficient resources are reported in milli-CPUs and bytes', () => {
  assert.equal(
    resizeFault(pod('2100m', '2Gi'), node('linux')),
    "Node didn't have enough allocatable resources: cpu, requested: 2100, allocatable: 2000; memory, requested: " +
      '2147483648, allocatable: 1073741824',
  )
})

test('a resize on a node without Linux is rejected', () => {
  assert.equal(
    resizeFault(pod('1', '1Mi'), node('windows')),
    'pod resize is only supported on linux nodes, node "n" is "windows"',
  )
  assert.match(resizeFault(pod('1', '1Mi'), node('')) ?? '', /is ""$/)
})
