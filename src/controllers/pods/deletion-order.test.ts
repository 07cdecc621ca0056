import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../client/kinds.ts'
import { deletionCost, leastAdvanced, podsToDelete } from './deletion-order.ts'

const now = Date.parse('2026-01-10T00:00:00Z')

interface PodLike {
  node?: string
  phase?: string
  ready?: boolean | string
  cost?: string
  restarts?: number
  /** Restarts of its sidecar. */
  sidecar?: number
  created?: string
}

const pod = (
  name: string,
  {
    node = 'n',
    phase = 'Running',
    ready = true,
    cost,
    restarts,
    sidecar,
    created = '2026-01-01T00:00:00Z',
  }: PodLike = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    uid: name,
    creationTimestamp: created,
    ...(cost && { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
  },
  spec: {
    nodeName: node,
    containers: [],
    ...(sidecar !== undefined && { initContainers: [{ name: 's', restartPolicy: 'Always' }] }),
  },
  status: {
    phase,
    conditions: [
      {
        type: 'Ready',
        status: ready ? 'True' : 'False',
        lastTransitionTime: typeof ready === 'string' ? ready : '2026-01-02T00:00:00Z',
      },
    ],
    ...(restarts !== undefined && {
      containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: true, restartCount: restarts }],
    }),
    ...(sidecar !== undefined && {
      initContainerStatuses: [{ name: 's', image: 'i', imageID: '', ready: true, restartCount: sidecar }],
    }),
  },
})

const first = (pods: Pod[], count = 1, related: Pod[] = []) =>
  podsToDelete(pods, count, { related, now }).map(({ metadata }) => metadata.name)

const orders: [string, Pod, Pod][] = [
  ['one without a node before one with a node', pod('z', { node: '' }), pod('a')],
  ['pending before running', pod('z', { phase: 'Pending', ready: false }), pod('a', { ready: false })],
  ['unknown before running', pod('z', { phase: 'Unknown' }), pod('a')],
  ['not ready before ready', pod('z', { ready: false }), pod('a')],
  ['not ready before cheaper', pod('z', { ready: false, cost: '10' }), pod('a', { cost: '-10' })],
  ['cheaper before dearer', pod('z', { cost: '-1' }), pod('a')],
  ['cheaper before newer', pod('z', { cost: '1' }), pod('a', { cost: '2', ready: '2026-01-09T23:59:59Z' })],
  ['ready for minutes before ready for days', pod('z', { ready: '2026-01-09T23:55:00Z' }), pod('a')],
  ['often restarted before seldom restarted', pod('z', { restarts: 3 }), pod('a', { restarts: 1 })],
  [
    'often restarted before one with restarted sidecars',
    pod('z', { restarts: 2 }),
    pod('a', { restarts: 1, sidecar: 9 }),
  ],
  ['often restarted sidecars before seldom restarted ones', pod('z', { sidecar: 2 }), pod('a', { sidecar: 1 })],
  ['created minutes ago before created days ago', pod('z', { created: '2026-01-09T23:55:00Z' }), pod('a')],
]

for (const [order, sooner, later] of orders)
  test(`podsToDelete orders ${order}`, () => {
    assert.deepEqual(first([later, sooner]), ['z'])
    assert.deepEqual(first([sooner, later]), ['z'])
  })

test('the pod whose node has more related pods is deleted first', () => {
  const crowded = pod('z', { node: 'crowded' })
  const alone = pod('a', { node: 'alone' })
  assert.deepEqual(first([alone, crowded], 1, [alone, crowded, pod('other', { node: 'crowded' })]), ['z'])
})

test('pods whose ready times have the same order of magnitude are equal', () => {
  assert.deepEqual(first([pod('b', { ready: '2026-01-02T01:00:00Z' }), pod('a', { ready: '2026-01-02T00:00:00Z' })]), [
    'a',
  ])
})

test('leastAdvanced ignores deletion costs and compares times by the second', () => {
  const names = (pods: Pod[]) => leastAdvanced(pods, 1).map(({ metadata }) => metadata.name)
  assert.deepEqual(
    names([pod('b', { cost: '-9', ready: '2026-01-02T00:00:00Z' }), pod('a', { ready: '2026-01-02T00:00:01Z' })]),
    ['a'],
  )
  assert.deepEqual(names([pod('b', { ready: false }), pod('a', { phase: 'Pending' })]), ['a'])
  assert.deepEqual(
    names([pod('b', { created: '2026-01-01T00:00:00Z' }), pod('a', { created: '2026-01-01T00:00:01Z' })]),
    ['a'],
  )
})

test('podsToDelete keeps the order when all pods are deleted', () => {
  assert.deepEqual(first([pod('b'), pod('a', { ready: false })], 2), ['b', 'a'])
})

test('a deletion cost is a plain 32-bit integer, else 0', () => {
  for (const [text, cost] of [
    ['5', 5],
    ['-5', -5],
    ['+5', 0],
    ['05', 0],
    ['1.5', 0],
    ['2147483648', 0],
    ['', 0],
  ] as const)
    assert.equal(deletionCost(pod('a', { cost: text })), cost, text)
})

test('without PodDeletionCost the cost annotation is ignored', () => {
  const pods = [pod('cheap', { cost: '-5' }), pod('dear', { cost: '5' })]
  const first = (ignoresCost: boolean, all: readonly Pod[]) =>
    podsToDelete(all, 1, { related: [], now: 0, ignoresCost })[0]?.metadata.name
  assert.deepEqual([first(false, pods), first(false, pods.toReversed())], ['cheap', 'cheap'])
  assert.equal(first(true, pods) === first(true, pods.toReversed()) && first(true, pods) === 'cheap', false)
})
