import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { aSet, type PodNotation, situation } from '../set.fixture.ts'
import { manage } from './manage.ts'
import { rollingUpdate } from './rolling-update.ts'
import type { DaemonSituation } from './situation.ts'
import { statusOf } from './status.ts'

type On = Readonly<Record<string, readonly PodNotation[]>>

const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name ?? '')
const rolling = (rollingUpdate: object) => aSet({ type: 'RollingUpdate', rollingUpdate })
const surge = rolling({ maxUnavailable: 0, maxSurge: 1 })

test('an eligible node has one pod', () => {
  const cases: [string, On, object][] = [
    ['none yet', { a: [] }, { create: ['a'] }],
    ['one', { a: ['new pending'] }, {}],
    ['waits for a terminating one', { a: ['new terminating'] }, {}],
    ['the younger of two is deleted', { a: ['old ready', 'new ready'] }, { remove: ['a new ready'] }],
    ['one that failed', { a: ['new failed'] }, { failed: ['a new failed'] }],
    ['one that succeeded', { a: ['new succeeded'] }, { succeeded: ['a new succeeded'] }],
    ['nodes are independent', { a: [], b: ['new ready'], c: [] }, { create: ['a', 'c'] }],
  ]
  for (const [title, on, expected] of cases) {
    const { create, remove, failed, succeeded } = manage(situation(aSet(), on))
    const plan = {
      create,
      remove: names(remove),
      failed: names(failed.map(({ pod }) => pod)),
      succeeded: names(succeeded.map(({ pod }) => pod)),
    }
    assert.deepEqual(plan, { create: [], remove: [], failed: [], succeeded: [], ...expected }, title)
  }
})

test('pods on an ineligible node are deleted', () => {
  const of: DaemonSituation = {
    ...situation(aSet(), { a: ['new ready', 'new terminating', 'new failed'] }),
    placement: () => ({ runs: false, stays: false }),
  }
  assert.deepEqual(names(manage(of).remove), ['a new ready', 'a new failed'])
  const staying = { ...of, placement: () => ({ runs: false, stays: true }) }
  assert.deepEqual(names(manage(staying).remove), [])
  assert.deepEqual(
    manage({ ...situation(aSet(), { a: [] }), placement: () => ({ runs: false, stays: true }) }).create,
    [],
  )
})

test('pods for a deleted node are deleted', () => {
  const of = { ...situation(aSet(), { a: ['new pending', 'new terminating'] }), nodes: [] }
  assert.deepEqual(names(manage(of).remove), ['a new pending'])
})

test('during a surge an old and a new pod share a node', () => {
  const cases: [string, On, object][] = [
    ['only a terminating one', { a: ['old terminating'] }, { create: ['a'] }],
    ['the old one serves until the new one is ready', { a: ['old ready', 'new pending'] }, {}],
    ['the new one is ready', { a: ['old ready', 'new ready'] }, { remove: ['a old ready'] }],
    ['the old one is not ready', { a: ['old pending', 'new pending'] }, { remove: ['a old pending'] }],
    [
      'more than two',
      { a: ['old ready', 'new pending', 'new pending', 'old pending'] },
      { remove: ['a new pending', 'a old pending'] },
    ],
  ]
  for (const [title, on, expected] of cases) {
    const { create, remove } = manage(situation(surge, on))
    assert.deepEqual({ create, remove: names(remove) }, { create: [], remove: [], ...expected }, title)
  }
})

test('an update replaces up to maxUnavailable pods', () => {
  const cases: [string, object, On, string[]][] = [
    ['one of two', { maxUnavailable: 1 }, { a: ['old ready'], b: ['old ready'] }, ['a old ready']],
    ['waits for a terminating one', { maxUnavailable: 1 }, { a: ['old terminating'], b: ['old ready'] }, []],
    ['waits for the new one', { maxUnavailable: 1 }, { a: ['new pending'], b: ['old ready'] }, []],
    ['then the next', { maxUnavailable: 1 }, { a: ['new ready'], b: ['old ready'] }, ['b old ready']],
    [
      'unavailable old ones are deleted immediately',
      { maxUnavailable: 1 },
      { a: ['old pending'], b: ['old pending'], c: ['old ready'] },
      ['a old pending', 'b old pending'],
    ],
    [
      'a percentage, rounded up',
      { maxUnavailable: '34%' },
      { a: ['old ready'], b: ['old ready'], c: ['old ready'] },
      ['a old ready', 'b old ready'],
    ],
    ['both 0 means one', { maxUnavailable: 0 }, { a: ['old ready'], b: ['old ready'] }, ['a old ready']],
    ['nothing to do', { maxUnavailable: 1 }, { a: ['new ready'], b: ['new ready'] }, []],
  ]
  for (const [title, of, on, expected] of cases)
    assert.deepEqual(names(rollingUpdate(situation(rolling(of), on)).remove), expected, title)
})

test('an update with surge creates new pods first', () => {
  const cases: [string, object, On, object][] = [
    ['as many as allowed', { maxSurge: 1 }, { a: ['old ready'], b: ['old ready'] }, { create: ['a'] }],
    [
      'beside unavailable ones',
      { maxSurge: 1 },
      { a: ['old pending'], b: ['old pending'], c: ['old ready'] },
      { create: ['a', 'b', 'c'] },
    ],
    ['waits for the new one', { maxSurge: 1 }, { a: ['old ready', 'new pending'], b: ['old ready'] }, {}],
    [
      'the old one is deleted',
      { maxSurge: 1 },
      { a: ['old ready', 'new ready'], b: ['old ready'] },
      { create: ['b'], remove: ['a old ready'] },
    ],
    [
      'a percentage, rounded up',
      { maxSurge: '50%' },
      { a: ['old ready'], b: ['old ready'], c: ['old ready'] },
      { create: ['a', 'b'] },
    ],
  ]
  for (const [title, of, on, expected] of cases) {
    const { create, remove } = rollingUpdate(situation(rolling({ maxUnavailable: 0, ...of }), on))
    assert.deepEqual({ create, remove: names(remove) }, { create: [], remove: [], ...expected }, title)
  }
})

test('with surge, an old pod on an ineligible node is deleted when others serve', () => {
  const cases: [string, On, object][] = [
    ['it serves, and the other node has none yet', { a: ['old ready'], b: ['new pending'] }, {}],
    ['the other node has one that serves', { a: ['old ready'], b: ['new ready'] }, { remove: ['a old ready'] }],
    ['it does not serve', { a: ['old pending'], b: ['new pending'] }, { remove: ['a old pending'] }],
  ]
  for (const [title, on, expected] of cases) {
    const placement: DaemonSituation['placement'] = ({ metadata }) => ({ runs: metadata.name !== 'a', stays: true })
    const { create, remove } = rollingUpdate({ ...situation(surge, on), placement })
    assert.deepEqual({ create, remove: names(remove) }, { create: [], remove: [], ...expected }, title)
  }
})

test('with surge, a ready old pod is retained until the new one is available', () => {
  const patient = { ...surge, spec: { ...surge.spec!, minReadySeconds: 120 } }
  assert.deepEqual(rollingUpdate(situation(patient, { a: ['old ready', 'new ready'] })), { create: [], remove: [] })
})

test('each node is counted by its most senior pod', () => {
  const { observedGeneration, ...counts } = statusOf(
    situation(aSet(), { a: ['new ready'], b: ['old ready', 'new pending'], c: ['new pending'], d: [] }),
    undefined,
  )
  assert.deepEqual(counts, {
    currentNumberScheduled: 3,
    desiredNumberScheduled: 4,
    numberMisscheduled: 0,
    numberReady: 2,
    numberAvailable: 2,
    numberUnavailable: 2,
    updatedNumberScheduled: 2,
  })
  assert.equal(observedGeneration, 1)
  const astray = { ...situation(aSet(), { a: ['new ready'] }), placement: () => ({ runs: false, stays: true }) }
  assert.deepEqual(statusOf(astray, 3), {
    collisionCount: 3,
    observedGeneration: 1,
    currentNumberScheduled: 0,
    desiredNumberScheduled: 0,
    numberMisscheduled: 1,
    numberReady: 0,
  })
})
