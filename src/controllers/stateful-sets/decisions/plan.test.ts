import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatefulSet } from '../../../client/kinds.ts'
import { revisionNameOf } from '../identity.ts'
import { aSet, type PodState, pods, type revisions, situation } from '../set.fixture.ts'
import { planOf, type Step } from './plan.ts'

type States = Readonly<Record<number, PodState | readonly [PodState, keyof typeof revisions]>>
type Spec = Partial<NonNullable<StatefulSet['spec']>>

const notation = (step: Step): string =>
  `${step.do === 'create' ? '+' : step.do === 'delete' ? '-' : '~'}${step.pod.metadata.name?.slice('web-'.length)}`
const steps = (spec: Spec, states: States, updating = false, usesMaxUnavailable = false): string =>
  planOf(situation(aSet(spec), pods(states, aSet(spec)), { updating, usesMaxUnavailable }))
    .phases.flat()
    .map(notation)
    .join(' ')

const parallel = { podManagementPolicy: 'Parallel' }

test('pods are created in order, each after its predecessors are available', () => {
  const cases: [string, Spec, States, string][] = [
    ['the first', {}, {}, '+0'],
    ['waits for the first to run', {}, { 0: 'pending' }, ''],
    ['waits for the first to be ready', {}, { 0: 'running' }, ''],
    ['the second', {}, { 0: 'ready' }, '+1'],
    ['a gap is filled first', {}, { 0: 'ready', 2: 'ready' }, '+1'],
    ['a gap waits for those before it', {}, { 0: 'running', 2: 'ready' }, ''],
    ['all there', {}, { 0: 'ready', 1: 'ready', 2: 'ready' }, ''],
    ['waits for a terminating one', {}, { 0: 'ready', 1: 'terminating' }, ''],
    ['one that failed is replaced', {}, { 0: 'ready', 1: 'failed', 2: 'ready' }, '-1'],
    ['one that succeeded is replaced too', {}, { 0: 'succeeded' }, '-0'],
    ['not before it is available', { minReadySeconds: 30 }, { 0: 'fresh' }, ''],
    ['when it is available', { minReadySeconds: 30 }, { 0: 'ready' }, '+1'],
    ['ordinals may start elsewhere', { ordinals: { start: 5 } }, { 5: 'ready' }, '+6'],
    ['none', { replicas: 0 }, {}, ''],
  ]
  for (const [title, spec, states, expected] of cases) assert.equal(steps(spec, states), expected, title)
})

test('pods are deleted in reverse order, each after its successors are deleted', () => {
  const cases: [string, Spec, States, string][] = [
    ['the last', { replicas: 1 }, { 0: 'ready', 1: 'ready', 2: 'ready' }, '-2'],
    ['waits for the last to be deleted', { replicas: 1 }, { 0: 'ready', 1: 'ready', 2: 'terminating' }, ''],
    ['then the next', { replicas: 1 }, { 0: 'ready', 1: 'ready' }, '-1'],
    ['waits for a remaining one to be ready', { replicas: 1 }, { 0: 'running', 1: 'ready' }, ''],
    [
      'waits for one that is deleted later to be ready',
      { replicas: 1 },
      { 0: 'ready', 1: 'ready', 2: 'running', 3: 'running' },
      '',
    ],
    ['the first unhealthy one may be deleted', { replicas: 1 }, { 0: 'ready', 1: 'ready', 2: 'running' }, '-2'],
    ['to nothing', { replicas: 0 }, { 0: 'ready' }, '-0'],
    ['those below the start', { replicas: 2, ordinals: { start: 1 } }, { 0: 'ready', 1: 'ready', 2: 'ready' }, '-0'],
    ['missing ones are created before others are deleted', { replicas: 2 }, { 0: 'ready', 2: 'ready' }, '+1'],
  ]
  for (const [title, spec, states, expected] of cases) assert.equal(steps(spec, states), expected, title)
})

test('a Parallel set does not wait', () => {
  const cases: [string, Spec, States, string][] = [
    ['all at once', {}, {}, '+0 +1 +2'],
    ['those that are missing', {}, { 1: 'pending' }, '+0 +2'],
    ['all surplus ones', { replicas: 1 }, { 0: 'pending', 1: 'running', 2: 'ready', 3: 'terminating' }, '-2 -1'],
    ['both', { ordinals: { start: 2 }, replicas: 2 }, { 0: 'ready', 3: 'failed' }, '+2 -3 -0'],
  ]
  for (const [title, spec, states, expected] of cases)
    assert.equal(steps({ ...parallel, ...spec }, states), expected, title)
})

test('an update replaces pods from the last to the first', () => {
  const old = { 0: 'ready', 1: 'ready', 2: 'ready' } as const
  const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
  const cases: [string, Spec, States, string][] = [
    ['the last one', {}, old, '-2'],
    ['waits for the replacement', {}, { ...old, 2: ['running', 'new'] }, ''],
    ['then the next', {}, { ...old, 2: ['ready', 'new'] }, '-1'],
    ['down to the partition', rolling({ partition: 2 }), { ...old, 2: ['ready', 'new'] }, ''],
    ['OnDelete', { updateStrategy: { type: 'OnDelete' } }, old, ''],
    ['one after the other without the feature', rolling({ maxUnavailable: 2 }), old, '-2'],
    ['parallel: unavailable ones before it do not count', parallel, { ...old, 0: ['pending', 'new'] }, '-2'],
    ['parallel: waits for those after it', parallel, { ...old, 2: ['pending', 'new'] }, ''],
    ['parallel: waits for a terminating one', parallel, { ...old, 2: 'terminating' }, ''],
    ['scaling down goes first', { replicas: 2 }, old, '-2'],
    ['scaling up goes first', { replicas: 4 }, old, '+3'],
  ]
  for (const [title, spec, states, expected] of cases) assert.equal(steps(spec, states, true), expected, title)
})

test('with MaxUnavailableStatefulSet an update replaces up to maxUnavailable pods at a time', () => {
  const old = { 0: 'ready', 1: 'ready', 2: 'ready' } as const
  const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
  const cases: [string, Spec, States, string][] = [
    ['one by default', rolling({}), old, '-2'],
    ['several at once', rolling({ maxUnavailable: 2 }), old, '-2 -1'],
    ['a percentage, rounded down', rolling({ maxUnavailable: '67%' }), old, '-2 -1'],
    ['a percentage of less than one pod is one', rolling({ maxUnavailable: '1%' }), old, '-2'],
    ['scaling down goes first', { replicas: 2 }, old, '-2'],
    ['scaling up goes first', { replicas: 4 }, old, '+3'],
    [
      'parallel: unavailable ones count',
      { ...parallel, ...rolling({ maxUnavailable: 2 }) },
      { ...old, 0: ['pending', 'new'] },
      '-2',
    ],
    [
      'parallel: unavailable old ones are deleted immediately',
      parallel,
      { 0: 'running', 1: 'ready', 2: 'pending' },
      '-2 -0',
    ],
    ['parallel: no more than allowed', parallel, { ...old, 1: 'terminating' }, ''],
  ]
  for (const [title, spec, states, expected] of cases) assert.equal(steps(spec, states, true, true), expected, title)
})

test('a pod is recreated from the current revision below the partition, else from the update', () => {
  const revisionOf = (spec: Spec, states: States, status?: StatefulSet['status']): string | undefined => {
    const set: StatefulSet = { ...aSet(spec), ...(status && { status }) }
    const [step] = planOf(situation(set, pods(states, set), { updating: true })).phases.flat()
    return step && revisionNameOf(step.pod)
  }
  const rolling = (rollingUpdate?: object) => ({
    updateStrategy: { type: 'RollingUpdate', ...(rollingUpdate && { rollingUpdate }) },
  })
  assert.equal(revisionOf(rolling({ partition: 2 }), { 0: 'ready' }), 'web-old')
  assert.equal(revisionOf(rolling({ partition: 1 }), { 0: 'ready' }), 'web-new')
  assert.equal(revisionOf(rolling({ partition: 0 }), {}), 'web-new')
  assert.equal(revisionOf(rolling(), { 0: 'ready' }, { replicas: 3, currentReplicas: 2 }), 'web-old')
  assert.equal(revisionOf(rolling(), { 0: 'ready' }, { replicas: 3, currentReplicas: 1 }), 'web-new')
  assert.equal(revisionOf({ updateStrategy: { type: 'OnDelete' } }, {}, { replicas: 3, currentReplicas: 2 }), 'web-new')
  assert.equal(revisionOf({ ...rolling({ partition: 1 }), ordinals: { start: 7 } }, {}), 'web-old')
})

test('a deleted set has an empty plan', () => {
  const set = aSet()
  const deleted = { ...set, metadata: { ...set.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  assert.deepEqual(planOf(situation(deleted, [])).phases, [])
})
