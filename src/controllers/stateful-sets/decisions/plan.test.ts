import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatefulSet } from '../../../client/kinds.ts'
import { revisionNameOf } from '../identity.ts'
import { aSet, type PodState, pods, type revisions, situation } from '../set-for-tests.ts'
import { planOf, type Step } from './plan.ts'

type States = Readonly<Record<number, PodState | readonly [PodState, keyof typeof revisions]>>
type Spec = Partial<NonNullable<StatefulSet['spec']>>

const word = (step: Step): string =>
  `${step.do === 'create' ? '+' : step.do === 'delete' ? '-' : '~'}${step.pod.metadata.name?.slice('web-'.length)}`
const steps = (spec: Spec, states: States, updating = false, obeysMaxUnavailable = false): string =>
  planOf(situation(aSet(spec), pods(states, aSet(spec)), { updating, obeysMaxUnavailable }))
    .phases.flat()
    .map(word)
    .join(' ')

const parallel = { podManagementPolicy: 'Parallel' }

test('pods are made in order, each when those before are available', () => {
  const cases: [string, Spec, States, string][] = [
    ['the first', {}, {}, '+0'],
    ['waits for the first to run', {}, { 0: 'pending' }, ''],
    ['waits for the first to be ready', {}, { 0: 'running' }, ''],
    ['the second', {}, { 0: 'ready' }, '+1'],
    ['a gap is filled first', {}, { 0: 'ready', 2: 'ready' }, '+1'],
    ['a gap waits for those before it', {}, { 0: 'running', 2: 'ready' }, ''],
    ['all there', {}, { 0: 'ready', 1: 'ready', 2: 'ready' }, ''],
    ['one that goes is waited for', {}, { 0: 'ready', 1: 'going' }, ''],
    ['one that failed is replaced', {}, { 0: 'ready', 1: 'failed', 2: 'ready' }, '-1'],
    ['one that ended well is replaced too', {}, { 0: 'succeeded' }, '-0'],
    ['not before it is available', { minReadySeconds: 30 }, { 0: 'fresh' }, ''],
    ['when it is available', { minReadySeconds: 30 }, { 0: 'ready' }, '+1'],
    ['ordinals may begin elsewhere', { ordinals: { start: 5 } }, { 5: 'ready' }, '+6'],
    ['none', { replicas: 0 }, {}, ''],
  ]
  for (const [title, spec, states, expected] of cases) assert.equal(steps(spec, states), expected, title)
})

test('pods go in reverse order, each when those after it have gone', () => {
  const cases: [string, Spec, States, string][] = [
    ['the last', { replicas: 1 }, { 0: 'ready', 1: 'ready', 2: 'ready' }, '-2'],
    ['waits for the last to be gone', { replicas: 1 }, { 0: 'ready', 1: 'ready', 2: 'going' }, ''],
    ['then the next', { replicas: 1 }, { 0: 'ready', 1: 'ready' }, '-1'],
    ['waits for one that stays to be ready', { replicas: 1 }, { 0: 'running', 1: 'ready' }, ''],
    [
      'waits for one that goes later to be ready',
      { replicas: 1 },
      { 0: 'ready', 1: 'ready', 2: 'running', 3: 'running' },
      '',
    ],
    [
      'an unhealthy one may go when it is the first unhealthy',
      { replicas: 1 },
      { 0: 'ready', 1: 'ready', 2: 'running' },
      '-2',
    ],
    ['to nothing', { replicas: 0 }, { 0: 'ready' }, '-0'],
    ['those below the start', { replicas: 2, ordinals: { start: 1 } }, { 0: 'ready', 1: 'ready', 2: 'ready' }, '-0'],
    ['missing ones come before others go', { replicas: 2 }, { 0: 'ready', 2: 'ready' }, '+1'],
  ]
  for (const [title, spec, states, expected] of cases) assert.equal(steps(spec, states), expected, title)
})

test('a parallel set waits for nobody', () => {
  const cases: [string, Spec, States, string][] = [
    ['all at once', {}, {}, '+0 +1 +2'],
    ['those that are missing', {}, { 1: 'pending' }, '+0 +2'],
    ['all that are too many', { replicas: 1 }, { 0: 'pending', 1: 'running', 2: 'ready', 3: 'going' }, '-2 -1'],
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
    ['parallel: one that goes is waited for', parallel, { ...old, 2: 'going' }, ''],
    ['scaling down goes first', { replicas: 2 }, old, '-2'],
    ['scaling up goes first', { replicas: 4 }, old, '+3'],
  ]
  for (const [title, spec, states, expected] of cases) assert.equal(steps(spec, states, true), expected, title)
})

test('MaxUnavailableStatefulSet: an update replaces as many pods at once as may be unavailable', () => {
  const old = { 0: 'ready', 1: 'ready', 2: 'ready' } as const
  const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
  const cases: [string, Spec, States, string][] = [
    ['one unless it says more', rolling({}), old, '-2'],
    ['several at once', rolling({ maxUnavailable: 2 }), old, '-2 -1'],
    ['a share, rounded down', rolling({ maxUnavailable: '67%' }), old, '-2 -1'],
    ['a share of less than one is one', rolling({ maxUnavailable: '1%' }), old, '-2'],
    ['scaling down goes first', { replicas: 2 }, old, '-2'],
    ['scaling up goes first', { replicas: 4 }, old, '+3'],
    [
      'parallel: those that are unavailable count',
      { ...parallel, ...rolling({ maxUnavailable: 2 }) },
      { ...old, 0: ['pending', 'new'] },
      '-2',
    ],
    ['parallel: old ones that are of no use go at once', parallel, { 0: 'running', 1: 'ready', 2: 'pending' }, '-2 -0'],
    ['parallel: none more than allowed', parallel, { ...old, 1: 'going' }, ''],
  ]
  for (const [title, spec, states, expected] of cases) assert.equal(steps(spec, states, true, true), expected, title)
})

test('a pod comes back as it was below the partition, and as it shall be above', () => {
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

test('a set that is deleted is left to those who delete it', () => {
  const set = aSet()
  const deleted = { ...set, metadata: { ...set.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  assert.deepEqual(planOf(situation(deleted, [])).phases, [])
})
