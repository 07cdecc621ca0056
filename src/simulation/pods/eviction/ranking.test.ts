import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { pressureOf } from '../../nodes/failures.ts'
import { binary, evictionMessage, isCritical, rank } from './ranking.ts'

const mebi = 1024 * 1024

const aPod = (name: string, { priority, request }: { priority?: number; request?: string } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { priority, containers: [{ name: 'c', resources: request ? { requests: { memory: request } } : {} }] },
})

/** The memory usage of pods by name. */
const using =
  (amounts: Readonly<Record<string, number>>) =>
  ({ metadata: { name = '' } }: Pod): ReadonlyMap<string, number> =>
    new Map([['c', amounts[name] ?? 0]])

const names = (pods: readonly Pod[]): string => pods.map(({ metadata }) => metadata.name).join(' ')
const memory = pressureOf('memory-pressure')!
const disk = pressureOf('disk-pressure')!
const processes = pressureOf('pid-pressure')!

test('pods over their requests are evicted first, then by low priority, then by usage', () => {
  const pods = [
    aPod('modest', { request: '100Mi' }),
    aPod('important', { priority: 100 }),
    aPod('large'),
    aPod('larger'),
    aPod('modest-and-low', { request: '100Mi', priority: -1 }),
    aPod('greedy', { request: '10Mi' }),
  ]
  const used = using({
    modest: 50 * mebi,
    important: mebi,
    large: 20 * mebi,
    larger: 30 * mebi,
    'modest-and-low': 50 * mebi,
    greedy: 35 * mebi,
  })
  assert.equal(names(rank(pods, memory, used)), 'larger greedy large important modest-and-low modest')
  assert.equal(names(rank(pods, processes, () => new Map())), 'modest-and-low greedy large larger modest important')
})

test('pods with a system priority are critical', () => {
  assert.ok(isCritical(aPod('a', { priority: 2_000_000_000 })))
  assert.ok(!isCritical(aPod('a', { priority: 1_000_000_000 })))
})

test('eviction messages are those of a kubelet', () => {
  const used = new Map([['c', 60 * mebi]])
  assert.equal(
    evictionMessage(aPod('a'), memory, {}, used),
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 64Mi. Container c was using ' +
      '60Mi, request is 0, has larger consumption of memory. ',
  )
  assert.equal(
    evictionMessage(aPod('a', { request: '64Mi' }), memory, {}, used),
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 64Mi. ',
  )
  assert.equal(
    evictionMessage(aPod('a'), disk, { 'ephemeral-storage': '100Gi' }, new Map()),
    'The node was low on resource: ephemeral-storage. Threshold quantity: 10737418240, available: 5242880Ki. ',
  )
  assert.equal(evictionMessage(aPod('a'), processes, {}, new Map()), 'The node was low on resource: pids. ')
})

test('amounts are formatted as by kubelets', () => {
  for (const [bytes, text] of [
    [1, '1Ki'],
    [2048, '2Ki'],
    [mebi, '1Mi'],
    [1024 * mebi, '1Gi'],
    [mebi + 1024, '1025Ki'],
  ] as const)
    assert.equal(binary(bytes), text)
})
