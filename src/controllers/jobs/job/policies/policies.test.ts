import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../../client/kinds.ts'
import { indexesText, noIndexes, parseIndexes } from '../indexes.ts'
import { endedPod, jobOf, podOf } from '../job.fixture.ts'
import { finishedAt } from '../pods.ts'
import { backOffAfter, noBackOff, remainingMs } from './back-off.ts'
import { failureVerdict } from './failure-policy.ts'
import { dueIndexes, failedIndexes, failureAnnotations, podsToReplace } from './index-failures.ts'
import { metSuccessRule } from './success-policy.ts'

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`)

test('the first failure rule that matches a pod decides', () => {
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { containerName: 'c', operator: 'In', values: [3] } },
    { action: 'FailIndex', onExitCodes: { operator: 'NotIn', values: [1, 2] } },
    { action: 'Count', onExitCodes: { operator: 'In', values: [1] } },
  ]
  const job = jobOf({ podFailurePolicy: { rules } })
  const action = (exitCode: number, container = 'c', more: object = {}) =>
    failureVerdict(job, endedPod('p', exitCode, { container, ...more }))
  assert.deepEqual(action(1), { action: 'Count', counts: true })
  assert.deepEqual(action(2), { counts: true })
  assert.deepEqual(action(3), {
    action: 'FailJob',
    counts: true,
    message: 'Container c for pod n/p failed with exit code 3 matching FailJob rule at index 1',
  })
  assert.deepEqual(action(3, 'other'), { action: 'FailIndex', counts: true })
  assert.deepEqual(action(3, 'c', { conditions: [{ type: 'DisruptionTarget', status: 'True' }] }), {
    action: 'Ignore',
    counts: false,
  })
  // A container with exit code 0 never matches.
  assert.deepEqual(action(0), { counts: true })
  assert.deepEqual(failureVerdict(jobOf({}), endedPod('p', 3)), { counts: true })
})

test('a pod condition can fail the Job', () => {
  const job = jobOf({
    podFailurePolicy: { rules: [{ action: 'FailJob', onPodConditions: [{ type: 'ConfigIssue', status: 'True' }] }] },
  })
  const verdict = failureVerdict(job, endedPod('p', 1, { conditions: [{ type: 'ConfigIssue', status: 'True' }] }))
  assert.equal(verdict.message, 'Pod n/p has condition ConfigIssue matching FailJob rule at index 0')
})

test('success rules require indexes, a number of them, or both', () => {
  const met = (rules: object[], succeeded: string) =>
    metSuccessRule(jobOf({ completions: 10, successPolicy: { rules } }), parseIndexes(succeeded, 10))
  assert.equal(met([{ succeededIndexes: '0-2' }], '0-1'), undefined)
  assert.equal(met([{ succeededIndexes: '0-2' }], '0-4'), 'Matched rules at index 0')
  assert.equal(met([{ succeededIndexes: '0-2', succeededCount: 1 }], '2'), 'Matched rules at index 0')
  assert.equal(met([{ succeededIndexes: '0-2' }, { succeededCount: 2 }], '8,9'), 'Matched rules at index 1')
  assert.equal(met([{ succeededCount: 1 }], ''), undefined)
})

test('the back-off doubles with each failure after the last success', () => {
  const failed = (name: string, time: string): Pod => endedPod(name, 1, { finishedAt: `2026-01-01T${time}Z` })
  const one = backOffAfter(noBackOff, [], [failed('a', '00:00:10')])
  const three = backOffAfter(one, [], [failed('b', '00:00:30'), failed('c', '00:00:20')])
  assert.deepEqual(three, { failures: 3, lastFailure: at('00:00:30') })
  assert.equal(remainingMs(one, at('00:00:15')), 5000)
  assert.equal(remainingMs(three, at('00:00:40')), 30_000)
  assert.equal(remainingMs(three, at('00:02:00')), 0)
  assert.equal(remainingMs({ failures: 30, lastFailure: at('00:00:00') }, at('00:00:00')), 600_000)
  const success = endedPod('s', 0, { finishedAt: '2026-01-01T00:00:25Z' })
  assert.deepEqual(backOffAfter(three, [success], []), noBackOff)
  assert.deepEqual(backOffAfter(three, [success], [failed('b', '00:00:30'), failed('c', '00:00:20')]), {
    failures: 1,
    lastFailure: at('00:00:30'),
  })
  assert.deepEqual(backOffAfter(three, [], []), three)
})

test('finishedAt reads containers, then the Ready condition, then the deletion time', () => {
  assert.equal(finishedAt(endedPod('p', 1, { finishedAt: '2026-01-01T00:01:00Z' })), at('00:01:00'))
  const quiet = podOf('p', {
    phase: 'Failed',
    conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:02:00Z' }],
  })
  assert.equal(finishedAt(quiet), at('00:02:00'))
  const deleted = podOf('p', {}, { deletionTimestamp: '2026-01-01T00:03:30Z', deletionGracePeriodSeconds: 30 })
  assert.equal(finishedAt(deleted), at('00:03:00'))
  assert.equal(finishedAt(podOf('p', {})), at('00:00:00'))
})

test('the last failed pod of an index is retained until its replacement inherits its count', () => {
  const job = jobOf({ completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 1 })
  const failure = (name: string, index: number, count: number): Pod =>
    endedPod(name, 1, { index, failures: count, finishedAt: '2026-01-01T00:00:00Z' })
  const pods = [failure('a', 0, 0), failure('b', 1, 1), failure('c', 2, 0)]
  const failed = failedIndexes(job, pods)
  assert.equal(indexesText(failed), '1')
  const replaced = podsToReplace(job, pods, { succeeded: noIndexes, failed, active: parseIndexes('2', 3) })
  assert.deepEqual([...replaced.keys()], [0])
  assert.deepEqual(failureAnnotations(job, replaced.get(0)), { 'batch.kubernetes.io/job-index-failure-count': '1' })
  assert.deepEqual(failureAnnotations(job, undefined), { 'batch.kubernetes.io/job-index-failure-count': '0' })
  assert.deepEqual(dueIndexes([0], replaced, at('00:00:04')), { indexes: [], requeueAfterMs: 6000 })
  assert.deepEqual(dueIndexes([0, 2], replaced, at('00:00:04')), { indexes: [2], requeueAfterMs: 0 })
  assert.deepEqual(dueIndexes([0], replaced, at('00:00:10')), { indexes: [0], requeueAfterMs: 0 })
})

test('an ignored failure is counted only in the ignored count of its index', () => {
  const rules = [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } }]
  const job = jobOf({ completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 0, podFailurePolicy: { rules } })
  const pod = endedPod('p', 1, { index: 0, failures: 0 })
  assert.equal(indexesText(failedIndexes(job, [pod])), '')
  assert.deepEqual(failureAnnotations(job, pod), {
    'batch.kubernetes.io/job-index-failure-count': '0',
    'batch.kubernetes.io/job-index-ignored-failure-count': '1',
  })
})
