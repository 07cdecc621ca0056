import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, ReplicaSet } from '../../../../client/kinds.ts'
import { sizeAnnotations } from '../revisions.ts'
import { limitsOf, newSetSize, oldSetSizes, scaledSizes } from './sizes.ts'

type Amount = number | string

const deployment = (replicas: number, maxSurge: Amount = '25%', maxUnavailable: Amount = '25%'): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    replicas,
    selector: {},
    template: {},
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
  },
})

const recreated = (replicas: number): Deployment => ({
  ...deployment(replicas),
  spec: { replicas, selector: {}, template: {}, strategy: { type: 'Recreate' } },
})

/** A set with annotations of a Deployment of `desired` and at most `max` replicas. */
const set = (name: string, replicas: number, available = replicas, desired = replicas, max = desired): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: {
    name,
    creationTimestamp: `2026-01-01T00:00:0${name.length}Z`,
    annotations: { ...sizeAnnotations(desired, max) },
  },
  spec: { replicas, selector: {} },
  status: { replicas, availableReplicas: available },
})

test('maxSurge rounds up, maxUnavailable rounds down, and if both are 0 one may be unavailable', () => {
  const cases: [Deployment, number, number][] = [
    [deployment(10), 3, 2],
    [deployment(4), 1, 1],
    [deployment(1), 1, 0],
    [deployment(3, 2, 1), 2, 1],
    [deployment(3, 0, '1%'), 0, 1],
    [deployment(3, 0, '100%'), 0, 3],
    [deployment(2, 0, 5), 0, 2],
    [deployment(0, 0, '1%'), 0, 0],
    [recreated(5), 0, 0],
  ]
  for (const [of, maxSurge, maxUnavailable] of cases) assert.deepEqual(limitsOf(of), { maxSurge, maxUnavailable })
})

test('a new set grows within maxSurge and never beyond the replicas of its Deployment', () => {
  const cases: [string, Deployment, number, ReplicaSet[], number][] = [
    ['the first set', deployment(4), 0, [], 4],
    ['beside a full old set', deployment(4), 0, [set('a', 4)], 1],
    ['beside a smaller old set', deployment(4), 1, [set('a', 3)], 2],
    ['no surge remains', deployment(4), 1, [set('a', 4)], 1],
    ['already above the limit', deployment(4), 2, [set('a', 6)], 2],
    ['the last step', deployment(4), 3, [set('a', 1)], 4],
    ['too large', deployment(4), 9, [], 4],
    ['all at once when it recreates', recreated(4), 0, [], 4],
  ]
  for (const [what, of, current, others, size] of cases) assert.equal(newSetSize(of, current, others), size, what)
})

const sizes = (map: ReadonlyMap<string, number>) => Object.fromEntries(map)

test('old sets shrink by unavailable pods first, then within maxUnavailable', () => {
  const cases: [string, Deployment, ReplicaSet, ReplicaSet[], Record<string, number>][] = [
    ['immediately by maxUnavailable', deployment(4), set('new', 1, 0), [set('a', 4)], { a: 3 }],
    ['not by unavailable pods of the new set', deployment(4), set('new', 2, 0), [set('a', 3)], {}],
    ['with each new pod that is available', deployment(4), set('new', 2, 1), [set('a', 3)], { a: 2 }],
    ['unhealthy pods', deployment(10, 3, 2), set('new', 0), [set('a', 8, 3), set('bb', 5, 5)], { a: 3 }],
    ['unhealthy pods, within the limit', deployment(10, 3, 2), set('new', 5, 0), [set('a', 8, 5)], {}],
    ['not by pods that are being deleted', deployment(4), set('new', 2, 1), [set('a', 2, 3)], {}],
    ['the oldest first', deployment(5, 0, 2), set('new', 2), [set('bb', 1), set('a', 3)], { a: 0 }],
    ['all of them in the end', deployment(4), set('new', 4), [set('a', 1)], { a: 0 }],
    ['nothing to shrink', deployment(4), set('new', 4), [set('a', 0)], {}],
  ]
  for (const [what, of, newSet, old, expected] of cases)
    assert.deepEqual(sizes(oldSetSizes(of, newSet, old)), expected, what)
})

test('old sets do not shrink while a status is older than the last scaling', () => {
  const ofGeneration = (of: ReplicaSet, generation: number, observedGeneration: number): ReplicaSet => ({
    ...of,
    metadata: { ...of.metadata, generation },
    status: { replicas: 0, ...of.status, observedGeneration },
  })
  const [back, old] = [set('new', 2), set('a', 3)]
  assert.deepEqual(sizes(oldSetSizes(deployment(4), ofGeneration(back, 3, 1), [ofGeneration(old, 2, 2)])), {})
  assert.deepEqual(sizes(oldSetSizes(deployment(4), ofGeneration(back, 3, 3), [ofGeneration(old, 2, 1)])), {})
  assert.deepEqual(sizes(oldSetSizes(deployment(4), ofGeneration(back, 3, 3), [ofGeneration(old, 2, 2)])), { a: 1 })
})

test('scaling applies to the only active set, or to the newest if none is active', () => {
  assert.deepEqual(sizes(scaledSizes(deployment(5), set('new', 3), [set('a', 0)])), { new: 5 })
  assert.deepEqual(sizes(scaledSizes(deployment(5), undefined, [set('a', 3)])), { a: 5 })
  assert.deepEqual(sizes(scaledSizes(deployment(5), undefined, [set('a', 0), set('bb', 0)])), { bb: 5 })
  assert.deepEqual(sizes(scaledSizes(deployment(5), undefined, [])), {})
  assert.deepEqual(sizes(scaledSizes(deployment(0), set('new', 0), [])), {})
})

test('a set that was scaled by hand to the right size gets its annotations updated', () => {
  assert.deepEqual(sizes(scaledSizes(deployment(5), set('new', 5, 5, 3), [])), { new: 5 })
  assert.deepEqual(sizes(scaledSizes(deployment(5), set('new', 5, 5, 5), [])), {})
})

test('old sets shrink to 0 beside a saturated new set', () => {
  assert.deepEqual(sizes(scaledSizes(deployment(5), set('new', 5), [set('a', 3)])), { a: 0 })
})

test('during a rollout all sets are scaled proportionally', () => {
  const cases: [string, Deployment, ReplicaSet, ReplicaSet[], Record<string, number>][] = [
    ['up', deployment(20, 0, '50%'), set('new', 4, 0, 10), [set('a', 6, 6, 10)], { a: 12, new: 8 }],
    ['down', deployment(5, 0, '50%'), set('new', 4, 0, 10), [set('a', 6, 6, 10)], { a: 3, new: 2 }],
    ['with surge', deployment(12, 3, 2), set('new', 5, 0, 10, 13), [set('a', 8, 8, 10, 13)], { a: 9, new: 6 }],
    ['to nothing', deployment(0), set('new', 2, 0, 4, 5), [set('a', 3, 3, 4, 5)], { a: 0, new: 0 }],
    [
      'the rounding remainder goes to the largest',
      deployment(6, 0, 1),
      set('new', 1, 0, 5),
      [set('a', 2, 2, 5), set('bb', 2, 2, 5)],
      { bb: 3, a: 2, new: 1 },
    ],
    [
      'of equal sets newer ones grow',
      deployment(11, 0, 1),
      set('new', 5, 0, 10),
      [set('a', 5, 5, 10)],
      { new: 6, a: 5 },
    ],
  ]
  for (const [what, of, newSet, old, expected] of cases)
    assert.deepEqual(sizes(scaledSizes(of, newSet, old)), expected, what)
})

test('without size annotations only the largest set is scaled', () => {
  const unknown = (name: string, replicas: number): ReplicaSet => ({
    ...set(name, replicas, 0),
    metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
  })
  assert.deepEqual(sizes(scaledSizes(deployment(10, 0, 1), unknown('new', 2), [unknown('a', 3)])), { a: 8, new: 2 })
})

test('with Recreate, several active sets are not scaled', () => {
  assert.deepEqual(sizes(scaledSizes(recreated(9), set('new', 2, 0), [set('a', 3)])), {})
})
