/** The usage of quotas counted by the controller, on servers that count usage themselves and that do not. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { resourceQuotaController } from '../../../src/controllers/quota/controller.ts'
import { type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'

const core = '/api/v1/namespaces/default'
const apiServerFlags = ['--disable-admission-plugins=ResourceQuota,ServiceAccount']
const hour = 3600_000

type Used = Record<string, string>

const makeQuota = (cluster: TestCluster, name: string, spec: object) =>
  cluster.call('POST', `${core}/resourcequotas`, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec })

const used = (cluster: TestCluster, name: string, expected: Used) =>
  waitFor(`${name} to say ${JSON.stringify(expected)}`, async () => {
    const quota = await cluster.call('GET', `${core}/resourcequotas/${name}`)
    const { used: found } = (quota.status ?? {}) as { used?: Used }
    return (
      found &&
      Object.keys(expected).length === Object.keys(found).length &&
      Object.entries(expected).every(([key, value]) => found[key] === value)
    )
  })

const makePod = (cluster: TestCluster, name: string, spec: object = {}) =>
  cluster.call('POST', `${core}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }], ...spec },
  })

const makeConfig = (cluster: TestCluster, name: string) =>
  cluster.call('POST', `${core}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

/** A server without quota admission, and a controller that counts all usage. */
async function counting(t: Lifetime): Promise<TestCluster> {
  const cluster = await testCluster(t, { controllers: [], apiServerFlags })
  const make = () => [
    resourceQuotaController({ concurrency: 2, syncPeriodMs: hour, isCountedByServer: async () => false }),
  ]
  const controllers = new RestartedControllers(cluster.client, make)
  t.after(() => controllers.stop())
  return cluster
}

test('usage follows deletions of objects, ended pods and changed limits', async (t) => {
  const cluster = await counting(t)
  await makePod(cluster, 'a')
  await makePod(cluster, 'b')
  await makeConfig(cluster, 'one')
  await makeConfig(cluster, 'two')
  await makeQuota(cluster, 'q', {
    hard: { pods: '5', 'requests.cpu': '1', configmaps: '9', 'count/deployments.apps': '3' },
  })
  await used(cluster, 'q', { pods: '2', 'requests.cpu': '200m', configmaps: '2', 'count/deployments.apps': '0' })
  await cluster.call('DELETE', `${core}/configmaps/one`)
  await used(cluster, 'q', { pods: '2', 'requests.cpu': '200m', configmaps: '1', 'count/deployments.apps': '0' })
  await cluster.call(
    'PATCH',
    `${core}/pods/a/status`,
    { status: { phase: 'Succeeded' } },
    'application/merge-patch+json',
  )
  await used(cluster, 'q', { pods: '1', 'requests.cpu': '100m', configmaps: '1', 'count/deployments.apps': '0' })
  await cluster.call('DELETE', `${core}/pods/b`)
  await used(cluster, 'q', { pods: '0', 'requests.cpu': '0', configmaps: '1', 'count/deployments.apps': '0' })
  const hard = { 'count/deployments.apps': null, services: '2' }
  await cluster.call('PATCH', `${core}/resourcequotas/q`, { spec: { hard } }, 'application/merge-patch+json')
  await used(cluster, 'q', { pods: '0', 'requests.cpu': '0', configmaps: '1', services: '1' })
})

test('pods outside the scopes of a quota are not counted', async (t) => {
  const cluster = await counting(t)
  await makePod(cluster, 'long')
  await makePod(cluster, 'short', { activeDeadlineSeconds: 60 })
  await makePod(cluster, 'poor', { containers: [{ name: 'c', image: 'i' }] })
  for (const scope of ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort'])
    await makeQuota(cluster, scope.toLowerCase(), { hard: { pods: '9' }, scopes: [scope] })
  await used(cluster, 'terminating', { pods: '1' })
  await used(cluster, 'notterminating', { pods: '2' })
  await used(cluster, 'besteffort', { pods: '1' })
  await used(cluster, 'notbesteffort', { pods: '2' })
})

const own = testCluster(
  { after },
  { controllers: ['resourcequota'], controllerFlags: { 'resource-quota-sync-period': '200ms' } },
)

test('usage counted by the server is corrected once a period', async () => {
  const cluster = await own
  await makeQuota(cluster, 'q', { hard: { configmaps: '9' } })
  await used(cluster, 'q', { configmaps: '0' })
  await makeConfig(cluster, 'one')
  await used(cluster, 'q', { configmaps: '1' })
  const wrong = await cluster.call(
    'PATCH',
    `${core}/resourcequotas/q/status`,
    { status: { used: { configmaps: '7' } } },
    'application/merge-patch+json',
  )
  assert.deepEqual((wrong.status as { used: Used }).used, { configmaps: '7' })
  await used(cluster, 'q', { configmaps: '1' })
})
