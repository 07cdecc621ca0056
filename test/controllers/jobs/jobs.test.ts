/** Jobs run pods until enough have succeeded or too many have failed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { batch, batchWorld, conditions, core, template } from './batch-world.ts'

const finalizer = 'batch.kubernetes.io/job-tracking'

test('a Job runs its pods one by one, counts them and records events', async (t) => {
  const world = await batchWorld(t)
  await world.create('two', { completions: 2 })
  const [first] = await world.active('two', 1)
  assert.deepEqual(first?.metadata.finalizers, [finalizer])
  assert.equal(await world.event('two', 'SuccessfulCreate'), `Created pod: ${first?.metadata.name}`)
  await world.runs(first!)
  await world.status('two', { active: 1, ready: 1, terminating: 0 })
  await world.succeeds(first!)
  const [second] = await world.active('two', 1)
  await world.status('two', { active: 1, succeeded: 1 })
  await world.succeeds(second!)
  const done = await world.condition('two', 'Complete')
  const because = 'CompletionsReached: Reached expected number of succeeded pods'
  assert.deepEqual(conditions(done), [`SuccessCriteriaMet ${because}`, `Complete ${because}`])
  assert.ok(done.status?.completionTime && done.status.startTime)
  assert.deepEqual([done.status.succeeded, done.status.failed, done.status.uncountedTerminatedPods], [2, undefined, {}])
  assert.equal(await world.event('two', 'Completed'), 'Job completed')
  assert.ok((await world.pods('two')).every(({ metadata }) => !metadata.finalizers))
})

test('Jobs, completion after task failure: failures are retried up to the back-off limit', async (t) => {
  const world = await batchWorld(t)
  await world.create('again', { completions: 1 })
  await world.fails((await world.active('again', 1))[0]!)
  await world.succeeds((await world.active('again', 1))[0]!)
  const again = await world.condition('again', 'Complete')
  assert.deepEqual([again.status?.succeeded, again.status?.failed], [1, 1])

  await world.create('bad', { backoffLimit: 0, parallelism: 2, completions: 2 })
  const [pod, other] = await world.active('bad', 2)
  await world.runs(other!)
  await world.fails(pod!)
  const bad = await world.condition('bad', 'Failed')
  const because = 'BackoffLimitExceeded: Job has reached the specified backoff limit'
  assert.deepEqual(conditions(bad), [`FailureTarget ${because}`, `Failed ${because}`])
  assert.deepEqual([bad.status?.failed, bad.status?.active, bad.status?.completionTime], [2, undefined, undefined])
  assert.equal(await world.event('bad', 'BackoffLimitExceeded'), 'Job has reached the specified backoff limit')
  assert.equal(await world.event('bad', 'SuccessfulDelete'), `Deleted pod: ${other?.metadata.name}`)
})

test('Ensure Pods of an Indexed Job get a unique index', async (t) => {
  const world = await batchWorld(t)
  await world.create('idx', { completionMode: 'Indexed', completions: 4, parallelism: 3 })
  const pods = await world.active('idx', 3)
  for (const [index, { metadata, spec }] of pods.entries()) {
    assert.equal(metadata.generateName, `idx-${index}-`)
    assert.equal(metadata.labels?.['batch.kubernetes.io/job-completion-index'], `${index}`)
    assert.equal(spec?.hostname, `idx-${index}`)
    assert.equal(
      spec?.containers[0]?.env?.[0]?.valueFrom?.fieldRef?.fieldPath,
      "metadata.labels['batch.kubernetes.io/job-completion-index']",
    )
  }
  await world.succeeds(pods[0]!)
  const last = (await world.active('idx', 3))[2]!
  await world.succeeds(pods[2]!)
  await world.succeeds(last)
  await world.status('idx', { succeeded: 3, completedIndexes: '0,2,3' })
  await world.succeeds(pods[1]!)
  assert.equal((await world.condition('idx', 'Complete')).status?.completedIndexes, '0-3')
})

test('Job should execute all indexes despite some failing when using backoffLimitPerIndex', async (t) => {
  const world = await batchWorld(t)
  await world.create('limits', { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 })
  const [first, second] = await world.active('limits', 2)
  await world.fails(first!)
  const [retried] = await world.active('limits', 2)
  assert.equal(retried?.metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '1')
  await world.fails(retried!)
  await world.status('limits', { failedIndexes: '0', failed: 2, active: 1 })
  await world.succeeds(second!)
  const done = await world.condition('limits', 'Failed')
  assert.deepEqual(conditions(done).at(-1), 'Failed FailedIndexes: Job has failed indexes')
  assert.deepEqual([done.status?.completedIndexes, done.status?.failedIndexes, done.status?.failed], ['1', '0', 2])

  await world.create('most', {
    completionMode: 'Indexed',
    completions: 3,
    parallelism: 3,
    backoffLimitPerIndex: 0,
    maxFailedIndexes: 0,
  })
  await world.fails((await world.active('most', 3))[1]!)
  assert.match(
    conditions(await world.condition('most', 'Failed')).join(),
    /MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes/,
  )
})

test('Job should allow to use the pod failure policy: rules ignore, count, fail the index or the Job', async (t) => {
  const world = await batchWorld(t)
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { containerName: 'c', operator: 'In', values: [42] } },
    { action: 'Count', onExitCodes: { operator: 'NotIn', values: [42] } },
  ]
  await world.create('policy', { backoffLimit: 3, podFailurePolicy: { rules }, podReplacementPolicy: 'Failed' })
  await world.fails((await world.active('policy', 1))[0]!, 1, [{ type: 'DisruptionTarget', status: 'True' }])
  await world.fails((await world.active('policy', 1))[0]!, 7)
  const [last] = await world.active('policy', 1)
  await world.status('policy', { failed: 1 })
  await world.fails(last!, 42)
  const failed = await world.condition('policy', 'Failed')
  const container = `Container c for pod default/${last?.metadata.name}`
  const why = `${container} failed with exit code 42 matching FailJob rule at index 1`
  assert.deepEqual(conditions(failed), [`FailureTarget PodFailurePolicy: ${why}`, `Failed PodFailurePolicy: ${why}`])
  assert.equal(failed.status?.failed, 2)

  const failIndex = [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [42] } }]
  await world.create('index', {
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 5,
    podFailurePolicy: { rules: failIndex },
  })
  await world.fails((await world.active('index', 2))[1]!, 42)
  await world.status('index', { failedIndexes: '1', failed: 1 })
})

test('Job with successPolicy should succeeded even when some indexes remain pending', async (t) => {
  const world = await batchWorld(t)
  const successPolicy = { rules: [{ succeededIndexes: '0,2', succeededCount: 1 }] }
  await world.create('enough', { completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy })
  await world.succeeds((await world.active('enough', 3))[2]!)
  const done = await world.condition('enough', 'Complete')
  const because = 'SuccessPolicy: Matched rules at index 0'
  assert.deepEqual(conditions(done), [`SuccessCriteriaMet ${because}`, `Complete ${because}`])
  assert.deepEqual([done.status?.succeeded, done.status?.failed, done.status?.completedIndexes], [1, undefined, '2'])
})

test('Jobs, manage lifecycle: a suspended Job waits and continues when resumed', async (t) => {
  const world = await batchWorld(t)
  await world.create('nap', { suspend: true, parallelism: 2, completions: 2 })
  const suspended = await world.condition('nap', 'Suspended')
  assert.deepEqual(conditions(suspended), ['Suspended JobSuspended: Job suspended'])
  assert.equal(suspended.status?.startTime, undefined)
  assert.equal(await world.event('nap', 'Suspended'), 'Job suspended')
  await world.change(`${batch}/jobs/nap`, { spec: { suspend: false } })
  const [first] = await world.active('nap', 2)
  const resumed = await world.status('nap', { active: 2 })
  assert.ok(resumed.status?.startTime)
  assert.equal(await world.event('nap', 'Resumed'), 'Job resumed')
  await world.succeeds(first!)
  await world.status('nap', { succeeded: 1 })
  await world.change(`${batch}/jobs/nap`, { spec: { suspend: true } })
  const again = await world.status('nap', { active: 0, terminating: 0 })
  assert.deepEqual([again.status?.succeeded, again.status?.failed, again.status?.startTime], [1, undefined, undefined])
  await world.active('nap', 0)
  const container = { name: 'c', image: 'app:1', resources: { requests: { cpu: '1' } } }
  await world.change(`${batch}/jobs/nap`, {
    spec: { suspend: false, template: { spec: { nodeSelector: { zone: 'a' }, containers: [container] } } },
  })
  const [other] = await world.active('nap', 1)
  assert.deepEqual(
    [other?.spec?.nodeSelector, other?.spec?.containers[0]?.resources],
    [{ zone: 'a' }, { requests: { cpu: '1' } }],
  )
  assert.ok((await world.status('nap', { active: 1 })).status?.startTime)
})

test('a Job fails after its activeDeadlineSeconds', async (t) => {
  const world = await batchWorld(t)
  await world.create('late', { activeDeadlineSeconds: 1 })
  const late = await world.condition('late', 'Failed')
  assert.equal(conditions(late).at(-1), 'Failed DeadlineExceeded: Job was active longer than specified deadline')
  assert.equal(late.status?.failed, 1)
  await world.active('late', 0)
})

test('Jobs, orphan pods, re-adoption; pods whose labels change are released', async (t) => {
  const world = await batchWorld(t)
  const { metadata } = await world.create('owner', { parallelism: 1, completions: 2 })
  const [pod] = await world.active('owner', 1)
  const path = `${core}/pods/${pod?.metadata.name}`
  const references = async () => ((await world.cluster.call('GET', path)) as unknown as typeof pod)?.metadata
  await world.change(path, { metadata: { ownerReferences: null } })
  await waitFor('the pod to be adopted', async () => {
    const now = await references()
    return now?.ownerReferences?.[0]?.uid === metadata.uid && now?.finalizers?.includes(finalizer)
  })
  await world.change(path, {
    metadata: { labels: { 'job-name': null, 'controller-uid': null, 'batch.kubernetes.io/controller-uid': null } },
  })
  await waitFor('the pod to be released', async () => {
    const now = await references()
    return !now?.ownerReferences && !now?.finalizers
  })
  await world.active('owner', 1)
})

test('pods of a deleted Job are released, and externally managed Jobs are ignored', async (t) => {
  const world = await batchWorld(t)
  await world.create('gone', { parallelism: 2, completions: 2 })
  await world.active('gone', 2)
  await world.cluster.call('DELETE', `${batch}/jobs/gone?propagationPolicy=Background`)
  await waitFor('the pods to be let go', async () =>
    (await world.pods('gone')).every(({ metadata }) => !metadata.finalizers),
  )
  await world.create('theirs', { managedBy: 'example.com/other' })
  await world.create('ours')
  await world.active('ours', 1)
  assert.deepEqual((await world.job('theirs')).status, {})
  assert.deepEqual(await world.pods('theirs'), [])
})

test('podReplacementPolicy decides when a deleted pod is replaced', async (t) => {
  const world = await batchWorld(t)
  await world.create('late', {
    podReplacementPolicy: 'Failed',
    template: template({ terminationGracePeriodSeconds: 60 }),
  })
  const [pod] = await world.active('late', 1)
  await world.cluster.call('POST', `${core}/pods/${pod?.metadata.name}/binding`, {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: pod?.metadata.name },
    target: { kind: 'Node', name: 'n' },
  })
  await world.runs(pod!)
  await world.cluster.call('DELETE', `${core}/pods/${pod?.metadata.name}`)
  await world.status('late', { active: 0, terminating: 1, failed: 0 })
  await world.fails(pod!)
  await world.active('late', 1)
  await world.status('late', { active: 1, terminating: 0, failed: 1 })
})

test('a finished Job is deleted after its TTL', async (t) => {
  const world = await batchWorld(t)
  await world.create('brief', { ttlSecondsAfterFinished: 0 })
  await world.create('stays', {})
  for (const name of ['brief', 'stays']) await world.succeeds((await world.active(name, 1))[0]!)
  // Its dependents are deleted first.
  await waitFor('the Job to be deleted', async () => {
    const { deletionTimestamp, finalizers } = (await world.job('brief')).metadata
    return deletionTimestamp !== undefined && finalizers?.includes('foregroundDeletion')
  })
  assert.equal((await world.condition('stays', 'Complete')).metadata.deletionTimestamp, undefined)
})

test('Jobs, apply changes to status: conditions of others are retained', async (t) => {
  const world = await batchWorld(t)
  await world.create('theirs', { parallelism: 2, completions: 2 })
  const [pod] = await world.active('theirs', 2)
  await world.status('theirs', { active: 2 })
  const condition = { type: 'CustomConditionType', status: 'True' }
  await world.change(`${batch}/jobs/theirs/status`, {
    metadata: { annotations: { patched: 'status' } },
    status: { conditions: [condition] },
  })
  await world.succeeds(pod!)
  const { metadata, status } = await world.status('theirs', { succeeded: 1 })
  assert.equal(metadata.annotations?.patched, 'status')
  assert.deepEqual(
    status?.conditions?.map(({ type }) => type),
    ['CustomConditionType'],
  )
})

test('Jobs, active pods, graceful termination: parallelism pods run, and the Job can be deleted', async (t) => {
  const world = await batchWorld(t)
  await world.create('foo', { parallelism: 2, completions: 4 })
  await world.active('foo', 2)
  await world.change(`${batch}/jobs/foo`, { spec: { parallelism: 3 } })
  await world.active('foo', 3)
  await world.change(`${batch}/jobs/foo`, { spec: { parallelism: 1 } })
  await world.active('foo', 1)
  const { status } = await world.status('foo', { active: 1, terminating: 0 })
  assert.equal(status?.failed, undefined)
  await world.cluster.call('DELETE', `${batch}/jobs/foo?propagationPolicy=Background`)
  await assert.rejects(world.job('foo'), / 404 /)
})
