import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { add, amountOf, resourcesOf } from '../resources.ts'
import { podRequests } from './pod-requests.ts'

const mi = 1024 * 1024

type PodSpec = NonNullable<Pod['spec']>
const asks = (requests?: Record<string, string>, more: object = {}) => ({
  name: 'c',
  ...(requests && { resources: { requests } }),
  ...more,
})
const sidecar = (requests?: Record<string, string>) => asks(requests, { restartPolicy: 'Always' })
const pod = (spec: Partial<PodSpec>, status?: Pod['status']): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [], ...spec },
  ...(status && { status }),
})
const resized = (status: object, infeasible = false): Pod['status'] => ({
  containerStatuses: [{ name: 'c', image: '', imageID: '', ready: true, restartCount: 0, ...status }],
  ...(infeasible && { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] }),
})

test('amounts are rounded up: CPU to thousandths, others to whole units', () => {
  const amounts = resourcesOf({
    cpu: '0.0001',
    memory: '1500m',
    'ephemeral-storage': '1Gi',
    'hugepages-2Mi': '4Mi',
    'example.com/gpu': '2',
    pods: '110',
  })
  assert.equal(amounts.milliCPU, 1)
  assert.equal(amounts.memory, 2)
  assert.equal(amountOf(amounts, 'ephemeral-storage'), 1024 * mi)
  assert.deepEqual(
    [...amounts.scalar],
    [
      ['hugepages-2Mi', 4 * mi],
      ['example.com/gpu', 2],
    ],
  )
  const sum = resourcesOf({ cpu: '1', 'example.com/gpu': '1' })
  add(sum, amounts)
  assert.deepEqual(
    [sum.milliCPU, sum.memory, amountOf(sum, 'example.com/gpu'), amountOf(sum, 'hugepages-2Mi')],
    [1001, 2, 3, 4 * mi],
  )
  add(sum, amounts, -1)
  assert.deepEqual([sum.milliCPU, sum.memory, amountOf(sum, 'example.com/gpu'), amountOf(sum, 'none')], [1000, 0, 1, 0])
})

test('the requests of a pod are those that upstream counts', () => {
  const cases: [string, Pod, { cpu: number; memory: number }, { cpu: number; memory: number }][] = [
    ['no requests', pod({ containers: [asks(), asks()] }), { cpu: 0, memory: 0 }, { cpu: 200, memory: 400 * mi }],
    [
      'sum of containers',
      pod({ containers: [asks({ cpu: '1', memory: '1Mi' }), asks({ cpu: '500m', memory: '2Mi' })] }),
      { cpu: 1500, memory: 3 * mi },
      { cpu: 1500, memory: 3 * mi },
    ],
    [
      'explicit zero',
      pod({ containers: [asks({ cpu: '0', memory: '0' })] }),
      { cpu: 0, memory: 0 },
      { cpu: 0, memory: 0 },
    ],
    [
      'no memory request',
      pod({ containers: [asks({ cpu: '1' })] }),
      { cpu: 1000, memory: 0 },
      { cpu: 1000, memory: 200 * mi },
    ],
    [
      'the largest init container',
      pod({
        containers: [asks({ cpu: '2', memory: '1Mi' }), asks({ cpu: '1', memory: '1Mi' })],
        initContainers: [asks({ cpu: '2', memory: '1Mi' }), asks({ cpu: '2', memory: '3Mi' })],
      }),
      { cpu: 3000, memory: 3 * mi },
      { cpu: 3000, memory: 3 * mi },
    ],
    [
      'sidecars beside containers and later init containers',
      pod({
        containers: [asks({ cpu: '1', memory: '1Mi' })],
        initContainers: [
          sidecar({ cpu: '1', memory: '1Mi' }),
          asks({ cpu: '3', memory: '1Mi' }),
          sidecar({ cpu: '1', memory: '1Mi' }),
        ],
      }),
      { cpu: 4000, memory: 3 * mi },
      { cpu: 4000, memory: 3 * mi },
    ],
    [
      'overhead',
      pod({ containers: [asks({ cpu: '1', memory: '1Mi' })], overhead: { cpu: '250m', memory: '2Mi' } }),
      { cpu: 1250, memory: 3 * mi },
      { cpu: 1250, memory: 3 * mi },
    ],
    [
      'pod-level resources',
      pod({
        containers: [asks({ cpu: '1' })],
        resources: { requests: { cpu: '2', memory: '5Mi' } },
        overhead: { cpu: '100m' },
      }),
      { cpu: 2100, memory: 5 * mi },
      { cpu: 2100, memory: 5 * mi },
    ],
    [
      'pod-level resources, CPU only',
      pod({ containers: [asks()], resources: { requests: { cpu: '2' } } }),
      { cpu: 2000, memory: 0 },
      { cpu: 2000, memory: 200 * mi },
    ],
    [
      'a container being resized down counts with its old size',
      pod(
        { containers: [asks({ cpu: '1', memory: '1Mi' })] },
        resized({
          allocatedResources: { cpu: '2', memory: '1Mi' },
          resources: { requests: { cpu: '3', memory: '1Mi' } },
        }),
      ),
      { cpu: 3000, memory: mi },
      { cpu: 3000, memory: mi },
    ],
    [
      'an infeasible resize counts with the old size',
      pod(
        { containers: [asks({ cpu: '9', memory: '1Mi' })] },
        resized({ allocatedResources: { cpu: '2', memory: '1Mi' } }, true),
      ),
      { cpu: 2000, memory: mi },
      { cpu: 2000, memory: mi },
    ],
    [
      'a pod being resized down counts with its old size',
      pod(
        { containers: [asks()], resources: { requests: { cpu: '1', memory: '1Mi' } }, overhead: { cpu: '100m' } },
        { allocatedResources: { cpu: '1100m' }, resources: { requests: { cpu: '2100m' } } },
      ),
      { cpu: 2100, memory: mi },
      { cpu: 2100, memory: mi },
    ],
  ]
  for (const [title, given, requests, nonZero] of cases) {
    const found = podRequests(given)
    assert.deepEqual({ cpu: found.requests.milliCPU, memory: found.requests.memory }, requests, title)
    assert.deepEqual({ cpu: found.nonZero.milliCPU, memory: found.nonZero.memory }, nonZero, `${title}, for scoring`)
  }
})

test('extended resources of init containers and containers are counted', () => {
  const { requests } = podRequests(
    pod({
      containers: [asks({ 'example.com/gpu': '1' }), asks({ 'example.com/gpu': '1' })],
      initContainers: [asks({ 'example.com/gpu': '3' })],
    }),
  )
  assert.deepEqual([...requests.scalar], [['example.com/gpu', 3]])
})
