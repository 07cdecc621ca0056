import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job, Pod } from '../../../../client/kinds.ts'
import { endedPod, jobOf, podOf } from '../job.fixture.ts'
import { podOfJob } from '../pod-template.ts'
import { completionIndexAnnotation } from '../pods.ts'
import { noBackOff } from '../policies/back-off.ts'
import { podChanges } from './pod-changes.ts'
import { stateOf } from './state.ts'
import { counted, finalCondition, tracking } from './tracking.ts'
import { completed, isComplete, momentOf, verdictOf } from './verdict.ts'

const now = momentOf(Date.parse('2026-01-01T01:00:00Z'))
const running = (name: string, index?: number): Pod =>
  podOf(
    name,
    { phase: 'Running' },
    index === undefined ? {} : { annotations: { [completionIndexAnnotation]: `${index}` } },
  )
const deleted = (name: string): Pod => podOf(name, { phase: 'Running' }, { deletionTimestamp: '2026-01-01T00:59:00Z' })

const changes = (job: Job, pods: Pod[]): [remove: number, create: (number | undefined)[]] => {
  const { remove, create } = podChanges(stateOf(job, pods), noBackOff, now.ms)
  return [remove.length, [...create]]
}

test('parallelism pods run, but no more than the remaining completions', () => {
  const two = [running('a'), running('b')]
  assert.deepEqual(changes(jobOf({ completions: 5, parallelism: 3 }), []), [0, [undefined, undefined, undefined]])
  assert.deepEqual(changes(jobOf({ completions: 5, parallelism: 3 }, { succeeded: 4 }), []), [0, [undefined]])
  assert.deepEqual(changes(jobOf({ completions: 5, parallelism: 1 }), two), [1, []])
  assert.deepEqual(changes(jobOf({ completions: 5, parallelism: 2, suspend: true }), two), [2, []])
  // Without completions no pods are created after the first success.
  assert.deepEqual(changes(jobOf({ parallelism: 3 }), two), [0, [undefined]])
  assert.deepEqual(changes(jobOf({ parallelism: 3 }, { succeeded: 1 }), two), [0, []])
})

test('each index has one pod, and pods without a valid index are deleted', () => {
  const job = jobOf(
    { completionMode: 'Indexed', completions: 5, parallelism: 3 },
    { completedIndexes: '1', succeeded: 1 },
  )
  assert.deepEqual(changes(job, [running('a', 0)]), [0, [2, 3]])
  assert.deepEqual(changes(job, [running('a', 0), running('b', 0)]), [1, []])
  assert.deepEqual(changes(job, [running('a'), running('b', 7)]), [2, []])
})

test('podReplacementPolicy decides if a terminating pod is replaced immediately', () => {
  assert.deepEqual(changes(jobOf({ completions: 1 }), [deleted('a')]), [0, [undefined]])
  assert.deepEqual(changes(jobOf({ completions: 1, podReplacementPolicy: 'Failed' }), [deleted('a')]), [0, []])
})

test('no pod is created during the back-off after a failure', () => {
  const state = stateOf(jobOf({ completions: 1 }), [])
  const { create, requeueAfterMs } = podChanges(state, { failures: 1, lastFailure: now.ms - 4000 }, now.ms)
  assert.deepEqual([create, requeueAfterMs], [[], 6000])
})

const reason = (job: Job, pods: Pod[]): string | undefined => {
  const verdict = verdictOf(stateOf(job, pods), job.status?.startTime, now)
  return verdict && `${verdict.type} ${verdict.reason}`
}

test('Jobs fail by backoffLimit, deadline or policy, and a decision is final', () => {
  const policy = { podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [9] } }] } }
  assert.equal(reason(jobOf({ backoffLimit: 1 }, { failed: 1 }), [running('a')]), undefined)
  assert.equal(
    reason(jobOf({ backoffLimit: 1 }, { failed: 1 }), [endedPod('a', 1)]),
    'FailureTarget BackoffLimitExceeded',
  )
  assert.equal(reason(jobOf({ backoffLimit: 0, ...policy }), [endedPod('a', 9)]), 'FailureTarget PodFailurePolicy')
  const since = { startTime: '2026-01-01T00:59:00Z' }
  assert.equal(reason(jobOf({ activeDeadlineSeconds: 61 }, since), []), undefined)
  // The client reads integers beyond 2^53 as bigints.
  assert.equal(reason(jobOf({ activeDeadlineSeconds: (2n ** 63n - 1n) as unknown as number }, since), []), undefined)
  assert.equal(reason(jobOf({ activeDeadlineSeconds: 60 }, since), []), 'FailureTarget DeadlineExceeded')
  assert.equal(reason(jobOf({ activeDeadlineSeconds: 60, suspend: true }, since), []), undefined)
  const restarted = podOf('a', {
    phase: 'Running',
    containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: true, restartCount: 2 }],
  })
  const onFailure = { template: { spec: { restartPolicy: 'OnFailure', containers: [] } } }
  assert.equal(reason(jobOf({ ...onFailure, backoffLimit: 2 }), [restarted]), 'FailureTarget BackoffLimitExceeded')
  assert.equal(reason(jobOf({ ...onFailure, backoffLimit: 3 }), [restarted]), undefined)
  // An existing decision is final.
  const decided = { failed: 9, conditions: [{ type: 'SuccessCriteriaMet', status: 'True', reason: 'SuccessPolicy' }] }
  assert.equal(reason(jobOf({ backoffLimit: 0 }, decided), []), 'SuccessCriteriaMet SuccessPolicy')
})

test('a Job is complete when enough pods succeeded and none is active', () => {
  const done = (spec: object, succeeded: number, active: number) =>
    isComplete(stateOf(jobOf(spec, { succeeded }), []), active)
  assert.deepEqual(
    [done({ completions: 2 }, 2, 0), done({ completions: 2 }, 1, 0), done({ completions: 2 }, 2, 1)],
    [true, false, false],
  )
  assert.deepEqual(
    [done({}, 1, 0), done({}, 1, 1), done({}, 0, 0), done({ completions: 0 }, 0, 0)],
    [true, false, false, true],
  )
})

const observed = { startTime: now.text, conditions: [], active: 0, ready: 0, terminating: 0, verdict: undefined }

test('ended pods are first listed as uncounted, and counted after their release', () => {
  const state = stateOf(jobOf({ completions: 3 }, { succeeded: 1 }), [endedPod('a', 0), endedPod('b', 1), running('c')])
  const { status, release } = tracking(state, observed)
  assert.deepEqual(status.uncountedTerminatedPods, { succeeded: ['a'], failed: ['b'] })
  assert.deepEqual([status.succeeded, status.failed], [1, undefined])
  assert.deepEqual(
    release.map(({ metadata }) => metadata.name),
    ['a', 'b'],
  )
  const after = counted(status, new Set(['b']))
  assert.deepEqual([after.succeeded, after.failed, after.uncountedTerminatedPods], [2, undefined, { failed: ['b'] }])
})

test('listed pods are not listed twice, and pods released before a crash are counted', () => {
  const named = { succeeded: 1, uncountedTerminatedPods: { succeeded: ['a', 'deleted'], failed: ['b'] } }
  const { status, release } = tracking(
    stateOf(jobOf({ completions: 9 }, named), [endedPod('a', 0), endedPod('b', 1)]),
    observed,
  )
  assert.deepEqual([status.succeeded, status.uncountedTerminatedPods], [2, { succeeded: ['a'], failed: ['b'] }])
  assert.equal(release.length, 2)
})

test('at most 500 pods are listed as uncounted', () => {
  const pods = Array.from({ length: 600 }, (_, at) => endedPod(`p${at}`, 1))
  const { status, release, isLimited } = tracking(stateOf(jobOf({ backoffLimit: 1000 }), pods), observed)
  assert.deepEqual([status.uncountedTerminatedPods?.failed?.length, release.length, isLimited], [500, 500, true])
})

test('a Job finishes when all pods are counted and none is terminating', () => {
  const verdict = completed(now)
  assert.equal(finalCondition({ uncountedTerminatedPods: { failed: ['a'] } }, verdict, now), undefined)
  assert.equal(finalCondition({ uncountedTerminatedPods: {}, terminating: 1 }, verdict, now), undefined)
  assert.equal(finalCondition({ uncountedTerminatedPods: {}, terminating: 0 }, verdict, now)?.type, 'Complete')
  assert.equal(finalCondition({}, { ...verdict, type: 'FailureTarget' }, now)?.type, 'Failed')
})

test('pods get their index as label, annotation and variable, and long names are cut', () => {
  const job = jobOf({ completionMode: 'Indexed', completions: 3 })
  const { metadata, spec } = podOfJob({ ...job, metadata: { ...job.metadata, name: 'x'.repeat(63) } }, 2, {
    before: [],
    succeeded: [],
    replaced: new Map(),
  })
  assert.equal(metadata.generateName, `${'x'.repeat(55)}-2-`)
  assert.deepEqual(
    [metadata.labels, metadata.annotations],
    [{ [completionIndexAnnotation]: '2' }, { [completionIndexAnnotation]: '2' }],
  )
  assert.equal(spec?.containers[0]?.env?.[0]?.name, 'JOB_COMPLETION_INDEX')
})
