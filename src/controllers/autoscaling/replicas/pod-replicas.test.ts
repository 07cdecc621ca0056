import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import type { PodMetrics } from '../metrics/metrics-client.ts'
import {
  averageMeasure,
  groupPods,
  podReplicas,
  podRequests,
  sharedReplicas,
  utilizationMeasure,
  valueReplicas,
} from './pod-replicas.ts'

const now = Date.parse('2026-01-01T01:00:00Z')
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString()
const readiness = { initializationMs: 300_000, delayMs: 30_000, now }
const tolerances = { down: 0.1, up: 0.1 }

interface Traits {
  readonly phase?: string
  readonly ready?: string
  /** In minutes ago. */
  readonly started?: number
  readonly changed?: number
  readonly isDeleted?: boolean
  readonly request?: string
}

const pod = (
  name: string,
  { phase = 'Running', ready = 'True', started = 60, changed = 59, isDeleted, request = '1' }: Traits = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(isDeleted && { deletionTimestamp: minutesAgo(0) }) },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: request } } }] },
  status: {
    phase,
    startTime: minutesAgo(started),
    conditions: [{ type: 'Ready', status: ready, lastTransitionTime: minutesAgo(changed) }],
  },
})

/** One value per pod, in thousandths; undefined for pods without metrics. */
const metricsOf = (values: readonly (number | undefined)[]): PodMetrics =>
  new Map(
    values.flatMap((value, i) =>
      value === undefined ? [] : [[`p${i}`, { value, at: now, windowMs: 60_000 }] as const],
    ),
  )

const podsOf = (count: number, traits: Readonly<Record<number, Traits>> = {}): Pod[] =>
  Array.from({ length: count }, (_, i) => pod(`p${i}`, traits[i]))

interface Case {
  readonly title: string
  readonly current: number
  readonly values: readonly (number | undefined)[]
  readonly traits?: Readonly<Record<number, Traits>>
  readonly target: number
  readonly expected: number
  readonly utilization: number
}

const pending = { phase: 'Pending' }
const starting = { started: 1, changed: 1, ready: 'False' }

const cases: Case[] = [
  {
    title: 'twice the target doubles the pods',
    current: 3,
    values: [600, 600, 600],
    target: 30,
    expected: 6,
    utilization: 60,
  },
  {
    title: 'a third of the target reduces the pods to a third',
    current: 3,
    values: [100, 100, 100],
    target: 30,
    expected: 1,
    utilization: 10,
  },
  {
    title: 'a value within the tolerance changes nothing',
    current: 3,
    values: [320, 320, 320],
    target: 30,
    expected: 3,
    utilization: 32,
  },
  {
    title: 'fractions of a pod are rounded up',
    current: 3,
    values: [400, 400, 400],
    target: 30,
    expected: 4,
    utilization: 40,
  },
  {
    title: 'pods without metrics count as idle on the way up',
    current: 4,
    values: [900, 900, 900, undefined],
    target: 50,
    expected: 6,
    utilization: 90,
  },
  {
    title: 'pods without metrics count as busy on the way down',
    current: 4,
    values: [100, 100, 100, undefined],
    target: 50,
    expected: 3,
    utilization: 10,
  },
  {
    title: 'pods without metrics do not reverse the direction',
    current: 3,
    values: [600, undefined, undefined],
    target: 50,
    expected: 3,
    utilization: 60,
  },
  {
    title: 'pending pods count as idle on the way up',
    current: 4,
    values: [900, 900, undefined, undefined],
    traits: { 2: pending, 3: pending },
    target: 30,
    expected: 6,
    utilization: 90,
  },
  {
    title: 'pods that are starting count as idle on the way up',
    current: 2,
    values: [900, 900],
    traits: { 1: starting },
    target: 50,
    expected: 2,
    utilization: 90,
  },
  {
    title: 'pods that are not ready do not count on the way down',
    current: 3,
    values: [100, 100, 900],
    traits: { 2: starting },
    target: 40,
    expected: 1,
    utilization: 10,
  },
  {
    title: 'deleted and ended pods do not count at all',
    current: 4,
    values: [600, 600, 900, 900],
    traits: { 2: { isDeleted: true }, 3: { phase: 'Failed' } },
    target: 30,
    expected: 4,
    utilization: 60,
  },
]

for (const { title, current, values, traits, target, expected, utilization } of cases) {
  test(title, () => {
    const pods = podsOf(values.length, traits)
    const metrics = metricsOf(values)
    const measure = utilizationMeasure(podRequests(pods, 'cpu'), target)
    const { replicas, usage } = podReplicas(
      current,
      metrics,
      groupPods(pods, metrics, 'cpu', readiness),
      measure,
      tolerances,
    )
    assert.deepEqual([replicas, usage.utilization], [expected, utilization])
  })
}

test('a succeeded pod counts as a pod without metrics', () => {
  const { missing, ignored } = groupPods(
    podsOf(2, { 0: { phase: 'Succeeded' }, 1: { phase: 'Failed' } }),
    new Map(),
    'cpu',
    readiness,
  )
  assert.deepEqual([[...missing], [...ignored]], [['p0'], ['p1']])
})

test('podRequests uses pod-level requests with overhead, and container requests for other resources', () => {
  const spec = {
    resources: { requests: { cpu: '2' } },
    overhead: { cpu: '100m' },
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1', memory: '1Ki' } } }],
  }
  const whole = { ...pod('p0'), spec }
  assert.equal(podRequests([whole], 'cpu').get('p0'), 2100)
  assert.equal(podRequests([whole], 'memory').get('p0'), 1024 * 1000)
  assert.equal(podRequests([whole], 'cpu', 'c').get('p0'), 1000)
  assert.throws(() => podRequests([whole], 'nvidia.com/gpu'), {
    message: 'missing pod-level request for nvidia.com/gpu in Pod p0',
  })
})

const groupings: { title: string; traits: Traits; group: 'ready' | 'unready' }[] = [
  { title: 'a pod that has been ready for a long time', traits: {}, group: 'ready' },
  { title: 'a pod that became unready later', traits: { ready: 'False', started: 60, changed: 1 }, group: 'ready' },
  { title: 'a pod that was never ready', traits: { ready: 'False', started: 60, changed: 60 }, group: 'unready' },
  {
    title: 'a young pod that has been ready for a metrics window',
    traits: { started: 4, changed: 2 },
    group: 'ready',
  },
  { title: 'a young pod that is ready just now', traits: { started: 4, changed: 0.5 }, group: 'unready' },
  { title: 'a young pod that is not ready', traits: { started: 4, changed: 2, ready: 'False' }, group: 'unready' },
]

for (const { title, traits, group } of groupings) {
  test(`${title} is ${group} for CPU, and ready for anything else`, () => {
    const [pods, metrics] = [podsOf(1, { 0: traits }), metricsOf([1])]
    assert.equal(groupPods(pods, metrics, 'cpu', readiness).unready.size, group === 'unready' ? 1 : 0)
    assert.equal(groupPods(pods, metrics, 'memory', readiness).ready, 1)
  })
}

test('averages count pods without metrics at the target on scale-down and idle on scale-up', () => {
  const replicas = (values: readonly (number | undefined)[]): number => {
    const [pods, metrics] = [podsOf(values.length), metricsOf(values)]
    return podReplicas(
      values.length,
      metrics,
      groupPods(pods, metrics, '', readiness),
      averageMeasure(10_000),
      tolerances,
    ).replicas
  }
  assert.equal(replicas([20_000, 20_000]), 4)
  assert.equal(replicas([2_000, 2_000, 2_000, undefined]), 2)
  assert.equal(replicas([40_000, 40_000, undefined]), 8)
})

test('each direction has its own tolerance', () => {
  const replicas = (value: number): number => {
    const [pods, metrics] = [podsOf(10), metricsOf(Array(10).fill(value))]
    return podReplicas(10, metrics, groupPods(pods, metrics, '', readiness), averageMeasure(1000), {
      down: 0.05,
      up: 0.3,
    }).replicas
  }
  assert.deepEqual([replicas(1250), replicas(1350), replicas(960), replicas(900)], [10, 14, 10, 9])
})

test('missing requests, containers and metrics are named in errors', () => {
  const measure = (pods: readonly Pod[], container?: string) => podRequests(pods, 'cpu', container)
  assert.throws(
    () => measure([{ ...pod('a'), spec: { containers: [{ name: 'c', image: 'i' }] } }]),
    /^Error: missing request for cpu in container c of Pod a$/,
  )
  assert.throws(() => measure([pod('a')], 'other'), /^Error: container other not found in Pod a$/)
  const pods = podsOf(1, { 0: starting })
  const metrics = metricsOf([1])
  const replicas = () =>
    podReplicas(1, metrics, groupPods(pods, metrics, 'cpu', readiness), averageMeasure(1), tolerances)
  assert.throws(replicas, /did not receive metrics for targeted pods \(pods might be unready\)/)
})

test('podRequests sums one container, all containers with sidecars, or the pod level', () => {
  const requests = (cpu: string) => ({ requests: { cpu } })
  const spec = {
    containers: [
      { name: 'a', image: 'i', resources: requests('100m') },
      { name: 'b', image: 'i', resources: requests('200m') },
    ],
    initContainers: [
      { name: 'once', image: 'i' },
      { name: 'side', image: 'i', restartPolicy: 'Always', resources: requests('50m') },
    ],
  }
  const of = (container = '', more = {}): number | undefined =>
    podRequests([{ ...pod('p'), spec: { ...spec, ...more } }], 'cpu', container).get('p')
  assert.deepEqual([of(), of('b'), of('', { resources: requests('1') })], [350, 200, 1000])
})

test('valueReplicas uses ready pods, sharedReplicas all pods', () => {
  const pods = podsOf(4, { 3: { ready: 'False' } })
  assert.equal(valueReplicas(4, 2, pods, tolerances), 6)
  assert.equal(valueReplicas(4, 1.05, pods, tolerances), 4)
  assert.equal(valueReplicas(0, 2.5, [], tolerances), 3)
  assert.deepEqual(sharedReplicas(4, 100_000, 10_000, tolerances), { replicas: 10, average: 25_000 })
  assert.deepEqual(sharedReplicas(4, 41_000, 10_000, tolerances), { replicas: 4, average: 10_250 })
})
