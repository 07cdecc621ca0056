import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Node, V1Pod } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { parseSample } from './node-sample.ts'
import { ResourceMetrics } from './resource-metrics.ts'

const time = '2026-01-01T00:00:10Z'
const stats = (usageNanoCores: number | undefined, workingSetBytes: number, swapUsageBytes?: number) => ({
  cpu: { time, ...(usageNanoCores !== undefined && { usageNanoCores }), usageCoreNanoSeconds: 1e12 },
  memory: { time, workingSetBytes },
  ...(swapUsageBytes !== undefined && { swap: { time, swapUsageBytes } }),
})
const summary = JSON.stringify({
  node: { nodeName: 'a', ...stats(1_500_000_000, 2 ** 30, 0) },
  pods: [
    {
      podRef: { name: 'web', namespace: 'default', uid: 'another' },
      containers: [
        { name: 'app', ...stats(250_000_000, 64 * 2 ** 20) },
        { name: 'side', ...stats(1_234_567, 1_000_001) },
        { name: 'young', ...stats(undefined, 4096) },
      ],
    },
    { podRef: { name: 'new', namespace: 'default', uid: 'u2' }, containers: [{ name: 'c', ...stats(undefined, 1) }] },
    { podRef: { name: 'empty', namespace: 'default', uid: 'u3' }, containers: null },
  ],
})

const nodeNamed = (name: string): Model<V1Node> =>
  ({ kind: 'Node', apiVersion: 'v1', metadata: { name, labels: { zone: 'z' } } }) as Model<V1Node>
const podNamed = (name: string, nodeName = 'a'): Model<V1Pod> =>
  ({ kind: 'Pod', apiVersion: 'v1', metadata: { name, namespace: 'default' }, spec: { nodeName } }) as Model<V1Pod>

function metricsOf(): { readonly metrics: ResourceMetrics; readonly requests: string[] } {
  const requests: string[] = []
  const metrics = new ResourceMetrics({
    sample: async ({ metadata: { name = '' } }) => {
      requests.push(name)
      return name === 'a' ? parseSample(summary) : undefined
    },
    node: async (name) => (name === 'missing' ? undefined : nodeNamed(name)),
    now: () => Date.parse('2026-01-01T00:00:12Z'),
  })
  return { metrics, requests }
}

test('the usage of nodes is in canonical quantities, without nodes that do not answer', async () => {
  const { metrics } = metricsOf()
  assert.deepEqual(await metrics.nodes([nodeNamed('a'), nodeNamed('dead')]), [
    {
      kind: 'NodeMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:12Z', labels: { zone: 'z' } },
      timestamp: time,
      window: '10s',
      usage: { cpu: '1500m', memory: '1Gi', swap: '0' },
    },
  ])
})

test('the usage of pods has the containers with a rate, and omits pods without any', async () => {
  const { metrics, requests } = metricsOf()
  const names = ['web', 'new', 'empty', 'unknown'].map((name) => podNamed(name))
  const found = await metrics.pods([...names, podNamed('web', 'missing'), podNamed('web', 'dead')])
  assert.deepEqual(found, [
    {
      kind: 'PodMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      metadata: { name: 'web', namespace: 'default', creationTimestamp: '2026-01-01T00:00:12Z' },
      timestamp: time,
      window: '10s',
      containers: [
        { name: 'app', usage: { cpu: '250m', memory: '64Mi' } },
        { name: 'side', usage: { cpu: '1234567n', memory: '1000001' } },
      ],
    },
  ])
  assert.deepEqual(requests.sort(), ['a', 'dead'], 'each node is requested once')
})

test('a node answers only for pods that are bound to it', async () => {
  const { metrics } = metricsOf()
  assert.deepEqual(await metrics.pods([podNamed('web', 'dead'), podNamed('web', '')]), [])
})
