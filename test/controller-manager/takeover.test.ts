/** Two controller managers on one API server: one leads, the other takes over, and no work is done twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedInformers } from '../../src/client/informers/shared-informers.ts'
import { deployments, leases, pods, serviceAccounts } from '../../src/client/kinds.ts'
import { clientFor } from '../support/client-for.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { managerProcess } from './manager-process.ts'

const replicas = 60
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
}

test('another manager takes over within 15 s of a kill and creates only what is missing', async (t) => {
  const cluster = await testCluster(t, { controllers: false })
  const client = clientFor(t, cluster)
  const informers = new SharedInformers(client, () => {})
  t.after(() => informers.stop())
  const made = new Set<string>()
  informers.of(pods).onChange((pod) => pod?.metadata.uid && made.add(pod.metadata.uid))
  const args = [
    '--kubeconfig',
    cluster.kubeconfigFile,
    '--secure-port=0',
    '--use-service-account-credentials',
    '--kube-api-qps=20',
    '--kube-api-burst=5',
  ]
  const holder = async () => (await client.find(leases, 'kube-system', 'kube-controller-manager'))?.spec?.holderIdentity

  const first = managerProcess(t, args)
  const leader = await waitFor('somebody to lead', holder, { deadlineMs: 60_000 })
  const second = managerProcess(t, args)
  await waitFor('the other to know it', () => second.output().includes(`are run by ${leader}`), { deadlineMs: 60_000 })
  await waitFor('the account', () => client.find(serviceAccounts, 'default', 'default'), { deadlineMs: 60_000 })
  await client.create(deployments, deployment)
  await waitFor('some of the pods', () => made.size >= 5, { deadlineMs: 60_000 })
  first.process.kill('SIGKILL')
  const killed = performance.now()
  assert.ok(made.size < replicas, 'the leader was killed too late')
  const next = await waitFor('the other to lead', async () => ((await holder()) === leader ? undefined : holder()), {
    deadlineMs: 60_000,
  })
  const tookMs = performance.now() - killed
  t.diagnostic(`took over after ${Math.round(tookMs)} ms`)
  // The time for work is added to the lease's 15 s.
  assert.ok(tookMs < 17_000, `it took ${Math.round(tookMs)} ms`)

  await waitFor(
    'all pods',
    async () => (await client.get(deployments, 'default', 'web')).status?.replicas === replicas,
    { deadlineMs: 60_000 },
  )
  assert.equal(made.size, replicas)
  second.process.kill('SIGTERM')
  await second.exited
  assert.equal(next.startsWith(leader), false)
  assert.equal(await holder(), '')
  assert.equal(made.size, replicas)
})

test('a waiting manager takes over immediately when the leader stops', async (t) => {
  const cluster = await testCluster(t, { controllers: false })
  const client = clientFor(t, cluster)
  const args = ['--kubeconfig', cluster.kubeconfigFile, '--secure-port=0']
  const first = managerProcess(t, args)
  await waitFor('the first to lead', () => first.output().includes('all controllers have synced'), {
    deadlineMs: 60_000,
  })
  const second = managerProcess(t, args)
  await waitFor('the second to wait', () => second.output().includes('are run by'), { deadlineMs: 60_000 })
  first.process.kill('SIGTERM')
  assert.deepEqual(await first.exited, [0, null])
  await waitFor('the second to lead', () => second.output().includes('all controllers have synced'), {
    deadlineMs: 60_000,
  })
  const lease = await client.get(leases, 'kube-system', 'kube-controller-manager')
  assert.equal(lease.spec?.leaseTransitions, 1)
})
