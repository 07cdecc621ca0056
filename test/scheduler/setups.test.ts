/** Schedulers in different setups: on a thread of a cluster, as processes, as a pair, and with custom plug-ins. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { startStandaloneScheduler } from '../../src/cluster/scheduler/standalone-scheduler.ts'
import { pluginFactory, unschedulable } from '../../src/scheduler/index.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { ScheduledPods } from './scheduled-pods.ts'

test('a cluster schedules on its own thread with the profiles of a file', async (t) => {
  const folder = (await testCluster(t, { controllers: [] })).folder
  const configurationFile = join(folder, 'scheduler.yaml')
  writeFileSync(
    configurationFile,
    'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: ' +
      'default-scheduler}, {schedulerName: packing}]\n',
  )
  const pods = new ScheduledPods(
    await testCluster(t, { controllers: apiControllers, scheduler: { configurationFile, onThread: true } }),
  )
  await waitFor('the account', () => pods.cluster.call('GET', '/api/v1/namespaces/default/serviceaccounts/default'))
  await pods.node('a')
  await pods.create('p', { schedulerName: 'packing' })
  assert.equal(await pods.nodeOf('p'), 'a')
  assert.deepEqual(await pods.eventNotes('p', 'Scheduled'), ['Successfully assigned default/p to a'])
})

test('a cluster with an invalid scheduler configuration fails to start, with the reason', async (t) => {
  const { folder } = await testCluster(t, { controllers: [] })
  const configurationFile = join(folder, 'scheduler.yaml')
  writeFileSync(
    configurationFile,
    'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: -1\n',
  )
  await assert.rejects(
    testCluster(t, { scheduler: { configurationFile } }),
    /scheduler\.yaml: parallelism: Invalid value: -1/,
  )
})

test("a program adds its own plug-in to a cluster's scheduler", async (t) => {
  const evenNames = pluginFactory({
    name: 'EvenNames',
    make: () => ({
      events: [],
      filter: (_state, pod, node) =>
        pod.name.length % 2 === node.name.length % 2 ? undefined : unschedulable('the names do not go together'),
    }),
  })
  const { folder } = await testCluster(t, { controllers: [] })
  const configurationFile = join(folder, 'scheduler.yaml')
  writeFileSync(
    configurationFile,
    'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: ' +
      '{multiPoint: {enabled: [{name: EvenNames}]}}}]\n',
  )
  const pods = new ScheduledPods(
    await testCluster(t, { controllers: apiControllers, scheduler: { configurationFile, plugins: [evenNames] } }),
  )
  await waitFor('the account', () => pods.cluster.call('GET', '/api/v1/namespaces/default/serviceaccounts/default'))
  await pods.node('odd')
  await pods.create('pod')
  assert.equal(await pods.nodeOf('pod'), 'odd')
  await pods.create('even')
  assert.match(await pods.unschedulableMessage('even'), /^0\/1 nodes are available: 1 the names do not go together\./)
})

test('one of two schedulers leads, and the other takes over; /readyz reports which', async (t) => {
  const pods = new ScheduledPods(await testCluster(t, { controllers: apiControllers }))
  await waitFor('the account', () => pods.cluster.call('GET', '/api/v1/namespaces/default/serviceaccounts/default'))
  const begin = async () => {
    const scheduler = await startStandaloneScheduler({
      kubeconfig: pods.cluster.kubeconfigFile,
      leaderElection: { leaseMs: 3000, renewMs: 2000, retryMs: 200 },
      bindAddress: '127.0.0.1',
      port: 0,
      log: () => {},
    })
    t.after(() => scheduler.stop())
    return scheduler
  }
  const first = await begin()
  await pods.node('a')
  await pods.create('one')
  await pods.nodeOf('one')
  const second = await begin()
  assert.deepEqual(
    [await status(first.port, '/healthz'), await status(first.port, '/readyz'), await status(second.port, '/readyz')],
    [200, 200, 500],
  )
  assert.match((await answer(second.port, '/readyz', '')).body, /\[-\]sched-handler-sync failed/)
  // Without credentials, a client is anonymous and may read only health.
  const stranger = await answer(first.port, '/metrics', '')
  assert.deepEqual([stranger.status, await status(first.port, '/other')], [403, 403])
  assert.match(stranger.body, /User \\"system:anonymous\\" cannot get path \\"\/metrics\\"/)
  assert.deepEqual([await status(first.port, '/metrics', 'unknown'), await status(second.port, '/livez')], [401, 200])
  await first.stop()
  await pods.create('two')
  assert.equal(await pods.nodeOf('two'), 'a')
  assert.equal(await status(second.port, '/readyz'), 200)
})

test('metrics are authorized by the API server', async (t) => {
  const tokens = [
    { token: 'reader', user: { name: 'prometheus', groups: ['system:monitoring'] } },
    { token: 'nobody', user: { name: 'nobody', groups: [] } },
    { token: 'admin', user: { name: 'admin', groups: ['system:masters'] } },
  ]
  const cluster = await testCluster(t, { controllers: apiControllers, tokens })
  const scheduler = await startStandaloneScheduler({
    kubeconfig: cluster.kubeconfigFile,
    leaderElection: { leaderElect: false },
    bindAddress: '127.0.0.1',
    port: 0,
    log: () => {},
  })
  t.after(() => scheduler.stop())
  await waitFor('the scheduler', async () => (await status(scheduler.port, '/readyz')) === 200)
  assert.deepEqual(
    [await status(scheduler.port, '/metrics', 'reader'), await status(scheduler.port, '/metrics', 'nobody')],
    [200, 403],
  )
  assert.equal(await status(scheduler.port, '/other', 'admin'), 404)
  assert.match((await answer(scheduler.port, '/metrics', 'reader')).body, /scheduler_pending_pods\{queue="active"\} 0/)
})

const status = async (port: number | undefined, path: string, token = ''): Promise<number> =>
  (await answer(port, path, token)).status

function answer(
  port: number | undefined,
  path: string,
  token: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly body: string }>()
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }, (response) => {
    let body = ''
    response.setEncoding('utf8').on('data', (text: string) => (body += text))
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
  })
    .on('error', reject)
    .end()
  return promise
}
