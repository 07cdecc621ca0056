/** Tests of the conformance suite for Jobs (`test/e2e/apps/job.go`) on a real node: also those about exit codes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../../src/client/kinds.ts'
import {
  conditionsOf,
  job,
  jobPods,
  jobSuite,
  jobsPath,
  jobWith,
  runningJobPods,
} from '../../conformance/suites/jobs.ts'
import { inNamespace, type PodNodes } from '../../conformance/support/pod-nodes.ts'
import { type Act, eventually, objectWhen, stays, succeeds } from '../../conformance/support/workloads.ts'
import { temporaryFolder } from '../../up/t8s-process.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { realNodes } from '../support/real-nodes.ts'

const running = (script: string): Act => ({ script, annotations: {} })
const indexed = { completionMode: 'Indexed' }
/** Jobs wait between replacements of failed pods; the deadline of `eventually` covers few of them. */
const oddIndexesFail = running('exit $((JOB_COMPLETION_INDEX % 2))')
/** Only the first index ends. */
const firstSucceeds = running(`test $JOB_COMPLETION_INDEX = 0 || { ${stays.script}; }`)
const exitCodes = (values: readonly number[]) => ({ operator: 'In', values })

await inNamespaces(import.meta.filename, () =>
  describe('Jobs on a real node', { concurrency: 8 }, () => {
    const nodes = realNodes()
    jobSuite(nodes)
    for (const define of [testRestarts, testFailurePolicies, testIndexFailures, testSuccessPolicies, testLives])
      define(nodes)
  }),
)

function testRestarts(nodes: Promise<PodNodes>): void {
  test('Job should run a job to completion when tasks sometimes fail and are locally restarted', async () => {
    const api = await inNamespace(nodes, 'job-restarts')
    const data = { volumes: [{ name: 'data', emptyDir: {} }] }
    await api.post(
      jobsPath(api),
      job(
        'fail-once-local',
        running('test -e /data/foo && exit 0; touch /data/foo; exit 1'),
        {},
        {
          podSpec: { restartPolicy: 'OnFailure', ...data },
          container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
        },
      ),
    )
    assert.equal((await jobWith(api, 'fail-once-local', 'Complete')).status?.succeeded, 4)
    const pods = await jobPods(api, 'fail-once-local')
    assert.deepEqual(
      pods.map(({ status }) => status?.containerStatuses?.[0]?.restartCount),
      [1, 1, 1, 1],
    )
  })
}

function testFailurePolicies(nodes: Promise<PodNodes>): void {
  test('Job should allow to use the pod failure policy on exit code to fail the job early', async () => {
    const api = await inNamespace(nodes, 'job-exit-code')
    const rules = [{ action: 'FailJob', onExitCodes: { containerName: 'c', ...exitCodes([1]) } }]
    // One pod fails; the other ones would run forever.
    const script = running(`test $JOB_COMPLETION_INDEX = 0 && exit 1; ${stays.script}`)
    await api.post(jobsPath(api), job('pod-failure-failjob', script, { ...indexed, podFailurePolicy: { rules } }))
    const failed = await jobWith(api, 'pod-failure-failjob', 'Failed')
    assert.deepEqual(conditionsOf(failed), [
      ['FailureTarget', 'PodFailurePolicy'],
      ['Failed', 'PodFailurePolicy'],
    ])
    assert.match(
      failed.status?.conditions?.[1]?.message ?? '',
      /^Container c for pod job-exit-code\/\S+-0-\w+ failed with exit code 1 matching FailJob rule at index 0$/,
    )
  })

  test(
    'Job should allow to use a pod failure policy to ignore failure matching on ' + 'DisruptionTarget condition',
    async (t) => {
      const api = await inNamespace(nodes, 'job-disrupted')
      const path = temporaryFolder(t)
      const rules = [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        { action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [0] } },
      ]
      const marker = '/data/$JOB_COMPLETION_INDEX'
      await api.post(
        jobsPath(api),
        job(
          'pod-failure-ignore',
          running(`test -e ${marker} && exit 0; touch ${marker}; trap 'exit 143' TERM; sleep 1000 & wait`),
          { ...indexed, completions: 2, backoffLimit: 0, podFailurePolicy: { rules } },
          {
            podSpec: { terminationGracePeriodSeconds: 1, volumes: [{ name: 'data', hostPath: { path } }] },
            container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
          },
        ),
      )
      const pods = await runningJobPods(api, 'pod-failure-ignore', 2)
      for (const { metadata } of pods) {
        const { namespace, name } = metadata
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } }
        await api.post(`${api.core}/pods/${name}/eviction`, eviction)
      }
      const { status } = await jobWith(api, 'pod-failure-ignore', 'Complete')
      assert.deepEqual([status?.succeeded, status?.failed ?? 0], [2, 0])
    },
  )
}

function testIndexFailures(nodes: Promise<PodNodes>): void {
  test('Job should execute all indexes despite some failing when using backoffLimitPerIndex', async () => {
    const api = await inNamespace(nodes, 'job-per-index')
    await api.post(
      jobsPath(api),
      job('with-backofflimit-per-index', oddIndexesFail, { ...indexed, backoffLimitPerIndex: 1 }),
    )
    const failed = await jobWith(api, 'with-backofflimit-per-index', 'Failed')
    const { status } = failed
    assert.deepEqual(
      [status?.failedIndexes, status?.completedIndexes, status?.failed, status?.succeeded],
      ['1,3', '0,2', 4, 2],
    )
    assert.deepEqual(conditionsOf(failed), [
      ['FailureTarget', 'FailedIndexes'],
      ['Failed', 'FailedIndexes'],
    ])
  })

  test('Job should mark indexes as failed when the FailIndex action is matched in podFailurePolicy', async () => {
    const api = await inNamespace(nodes, 'job-fail-index')
    const rules = [{ action: 'FailIndex', onExitCodes: exitCodes([1]) }]
    const spec = { ...indexed, backoffLimitPerIndex: 1, podFailurePolicy: { rules } }
    await api.post(jobsPath(api), job('with-fail-index', oddIndexesFail, spec))
    const { status } = await jobWith(api, 'with-fail-index', 'Failed')
    assert.deepEqual(
      [status?.failedIndexes, status?.completedIndexes, status?.failed, status?.succeeded],
      ['1,3', '0,2', 2, 2],
    )
  })
}

function testSuccessPolicies(nodes: Promise<PodNodes>): void {
  const succeeds = async (name: string, rule: object): Promise<void> => {
    const api = await inNamespace(nodes, name)
    await api.post(
      jobsPath(api),
      job(name, firstSucceeds, { ...indexed, completions: 5, successPolicy: { rules: [rule] } }),
    )
    const done = await jobWith(api, name, 'Complete')
    assert.deepEqual(conditionsOf(done), [
      ['SuccessCriteriaMet', 'SuccessPolicy'],
      ['Complete', 'SuccessPolicy'],
    ])
    const { active = 0, ready, terminating, completedIndexes, succeeded } = done.status ?? {}
    assert.deepEqual([active, ready, terminating, completedIndexes, succeeded], [0, 0, 0, '0', 1])
  }

  test('Job with successPolicy succeededCount rule should succeeded even when some indexes remain pending', () =>
    succeeds('with-succeeded-count', { succeededCount: 1 }))

  test('Job with successPolicy succeededIndexes rule should succeeded even when some indexes remain pending', () =>
    succeeds('with-succeeded-indexes', { succeededIndexes: '0' }))
}

/** Not in the conformance suite. */
function testLives(nodes: Promise<PodNodes>): void {
  test('a Job that is suspended ends its containers, and continues later', async () => {
    const api = await inNamespace(nodes, 'job-suspended')
    const path = `${jobsPath(api)}/suspended`
    await api.post(jobsPath(api), job('suspended', stays))
    await runningJobPods(api, 'suspended', 2)
    await api.patch(path, { spec: { suspend: true } })
    await jobWith(api, 'suspended', 'Suspended')
    await eventually(api, 'its pods to go', async () => (await jobPods(api, 'suspended')).length === 0)
    await api.patch(path, { spec: { suspend: false } })
    await runningJobPods(api, 'suspended', 2)
  })

  test('a Job with ttlSecondsAfterFinished is deleted with its pods', async () => {
    const api = await inNamespace(nodes, 'job-ttl')
    await api.post(jobsPath(api), job('ttl', succeeds, { ttlSecondsAfterFinished: 1, completions: 1 }))
    await api.gone(`${jobsPath(api)}/ttl`)
    await eventually(api, 'its pods to go', async () => (await api.list(`${api.core}/pods`)).length === 0)
  })

  test('a Job fails at its activeDeadlineSeconds, which ends its containers', async () => {
    const api = await inNamespace(nodes, 'job-deadline')
    await api.post(jobsPath(api), job('deadline', stays, { activeDeadlineSeconds: 1 }))
    assert.deepEqual(conditionsOf(await jobWith(api, 'deadline', 'Failed')), [
      ['FailureTarget', 'DeadlineExceeded'],
      ['Failed', 'DeadlineExceeded'],
    ])
  })

  test('a Job that another controller manages has no pods', async () => {
    const api = await inNamespace(nodes, 'job-managed')
    await api.post(jobsPath(api), job('foreign', succeeds, { managedBy: 'example.com/queue' }))
    await api.post(jobsPath(api), job('own', succeeds, { managedBy: 'kubernetes.io/job-controller' }))
    await jobWith(api, 'own', 'Complete')
    const pods = await api.list<Pod>(`${api.core}/pods`)
    assert.deepEqual(new Set(pods.map(({ metadata }) => metadata.labels?.job)), new Set(['own']))
    await objectWhen(api, `${jobsPath(api)}/foreign`, 'has no status', ({ status }: { status?: object }) => {
      return Object.keys(status ?? {}).length === 0
    })
  })
}
