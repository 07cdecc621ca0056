import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodDisruptionBudget } from '../../client/kinds.ts'
import { budgetVerdict, expectedOf, failedStatus, needsScale } from './budget.ts'
import { goSelectorString } from './go-selector.ts'
import { clearCondition, staleInMs } from './stale-condition.ts'

const now = Date.parse('2026-01-01T00:10:00Z')
const budget = (spec: object, status?: PodDisruptionBudget['status']): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace: 'n', name: 'b', generation: 2 },
  spec,
  status,
})
const pod = (name: string, ready = 'True', deletionTimestamp?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'n', name, ...(deletionTimestamp && { deletionTimestamp }) },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
})

const expected: [spec: object, pods: number, scale: number, expectedPods: number, desiredHealthy: number][] = [
  [{ minAvailable: 2 }, 3, 0, 3, 2],
  [{ minAvailable: '50%' }, 3, 5, 5, 3],
  [{ minAvailable: '100%' }, 3, 3, 3, 3],
  [{ maxUnavailable: 1 }, 3, 4, 4, 3],
  [{ maxUnavailable: '30%' }, 3, 4, 4, 2],
  [{ maxUnavailable: 9 }, 3, 4, 4, 0],
  [{}, 3, 4, 0, 0],
]
for (const [spec, pods, scale, expectedPods, desiredHealthy] of expected)
  test(`${JSON.stringify(spec)} of ${pods} pods, ${scale} desired`, () =>
    assert.deepEqual(expectedOf(budget(spec), pods, scale), { expectedPods, desiredHealthy }))

test('percentages and maxUnavailable need the scale of the workloads', () => {
  assert.deepEqual([{ minAvailable: 1 }, { minAvailable: '1%' }, { maxUnavailable: 0 }, {}].map(budget1), [
    false,
    true,
    true,
    false,
  ])
})
const budget1 = (spec: object): boolean => needsScale(budget(spec))

test('healthy pods are ready, not deleted and not just evicted', () => {
  const pods = [pod('a'), pod('b', 'False'), pod('c', 'True', 'T'), pod('evicted'), pod('overdue')]
  const disruptedPods = {
    evicted: '2026-01-01T00:09:00Z',
    overdue: '2026-01-01T00:07:00Z',
    missing: '2026-01-01T00:09:30Z',
    c: '2026-01-01T00:09:30Z',
  }
  const before = { disruptedPods, disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  const { status, notDeleted, requeueAfterMs } = budgetVerdict(
    budget({}, before),
    pods,
    { expectedPods: 5, desiredHealthy: 1 },
    now,
  )
  assert.deepEqual(status, {
    observedGeneration: 2,
    disruptedPods: { evicted: disruptedPods.evicted },
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 5,
    conditions: [
      {
        observedGeneration: 2,
        type: 'DisruptionAllowed',
        status: 'True',
        reason: 'SufficientPods',
        message: '',
        lastTransitionTime: '2026-01-01T00:10:00Z',
      },
    ],
  })
  assert.deepEqual(
    notDeleted.map(({ metadata }) => metadata.name),
    ['overdue'],
  )
  assert.equal(requeueAfterMs, 60_000)
})

test('no disruption is allowed without pods or after an error', () => {
  const none = budgetVerdict(budget({}), [], { expectedPods: 0, desiredHealthy: 0 }, now).status
  assert.deepEqual([none.disruptionsAllowed, none.conditions?.[0]?.reason], [0, 'InsufficientPods'])
  const failed = failedStatus(
    budget({}, { ...none, disruptionsAllowed: 3 }),
    'found no controllers for pod "p"',
    now + 60_000,
  )
  assert.equal(failed.disruptionsAllowed, 0)
  assert.deepEqual(failed.conditions, [
    {
      observedGeneration: 2,
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'SyncFailed',
      message: 'found no controllers for pod "p"',
      lastTransitionTime: '2026-01-01T00:10:00Z',
    },
  ])
})

test('a DisruptionTarget condition is stale after two minutes unless set by the kubelet', () => {
  const target = (reason: string, status = 'True', more: object = {}): Pod => ({
    ...pod('p'),
    ...more,
    status: {
      phase: 'Running',
      conditions: [{ type: 'DisruptionTarget', status, reason, lastTransitionTime: '2026-01-01T00:09:00Z' }],
    },
  })
  assert.equal(staleInMs(target('EvictionByEvictionAPI'), now), 60_000)
  assert.equal(staleInMs(target('EvictionByEvictionAPI'), now + 120_000), 0)
  assert.equal(staleInMs(target('TerminationByKubelet'), now), undefined)
  assert.equal(staleInMs(target('EvictionByEvictionAPI', 'False'), now), undefined)
  assert.equal(staleInMs(pod('p'), now), undefined)
})

test('a cleared condition has no reason and the observed generation', async () => {
  const patches: unknown[] = []
  const client = {
    patch: async (...[, , name, body]: [unknown, string, string, unknown]) => patches.push([name, body]),
  }
  const old = { ...pod('p'), metadata: { namespace: 'n', name: 'p', uid: 'u', generation: 3 } }
  await clearCondition(old, now, { client } as never)
  const condition = { type: 'DisruptionTarget', status: 'False', reason: null, message: null, observedGeneration: 3 }
  const conditions = [{ ...condition, lastTransitionTime: '2026-01-01T00:10:00Z' }]
  assert.deepEqual(patches, [['p', { metadata: { uid: 'u' }, status: { conditions } }]])
})

test('goSelectorString formats selectors like Go', () => {
  const selector = {
    matchLabels: { b: '1', a: '2' },
    matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }],
  }
  assert.equal(
    goSelectorString(selector),
    '&LabelSelector{MatchLabels:map[string]string{a: 2,b: ' +
      '1,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}',
  )
})
