/** Controllers, scheduler and simulated nodes on threads of their own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Secret, V1ServiceAccount } from '@kubernetes/client-node'
import { deployments, leases, nodes, pods } from '../../../src/client/kinds.ts'
import { hasCondition } from '../../../src/client/objects/wait-for.ts'
import { annotationPrefix } from '../../../src/simulation/names.ts'
import { clientFor } from '../../support/client-for.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

test('controllers on a thread', async (t) => {
  const cluster = await testCluster(t, {
    controllersThread: true,
    scheduler: { onThread: true },
    nodes: { count: 1 },
  })
  const { call } = cluster
  await t.test('create accounts and tokens', async () => {
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'n' } })
    const found = <T>(path: string) =>
      call('GET', path).then(
        (object) => object as T,
        () => undefined,
      )
    const account = await waitFor('the account', () =>
      found<V1ServiceAccount>('/api/v1/namespaces/n/serviceaccounts/default'),
    )
    assert.equal(account.metadata?.name, 'default')
    await call('POST', '/api/v1/namespaces/n/secrets', {
      metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'default' } },
      type: 'kubernetes.io/service-account-token',
    })
    await waitFor('the token', async () => (await found<V1Secret>('/api/v1/namespaces/n/secrets/s'))?.data?.token)
  })

  await t.test('and scheduler and nodes on theirs follow the clock; a paused one does not delay a pod', async () => {
    const client = clientFor(t, cluster)
    const { clock } = cluster
    await waitFor('the node', async () => hasCondition('Ready')(await client.find(nodes, '', 'node-1')))
    await clock.pause()
    const began = clock.now().getTime()
    const containers = [{ name: 'c', image: 'i' }]
    const labels = { app: 'web' }
    await client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'n' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    })
    await client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'n', annotations: { [`${annotationPrefix}run-for`]: '90s' } },
      spec: { restartPolicy: 'Never', containers },
    })
    const phase = async (): Promise<string | undefined> => (await client.get(pods, 'n', 'p')).status?.phase
    await waitFor('the Deployment', async () => (await client.get(deployments, 'n', 'web')).status?.readyReplicas === 2)
    await waitFor('the pod', async () => (await phase()) === 'Running')
    assert.equal(clock.now().getTime(), began)
    await clock.step('2m')
    await waitFor('the end of the pod', async () => (await phase()) === 'Succeeded')
    const { spec } = await client.get(leases, 'kube-node-lease', 'node-1')
    const renewedMs = Date.parse(`${spec?.renewTime}`) - began
    assert.ok(renewedMs > 100_000 && renewedMs <= 120_000, `renewed after ${renewedMs} ms of two minutes`)
    assert.ok(hasCondition('Ready')(await client.get(nodes, '', 'node-1')))
  })
})

test('flags and names of controllers are validated before the start', async (t) => {
  await assert.rejects(
    testCluster(t, { controllers: ['none-such'] }),
    /"none-such" is not in the list of known controllers: choose from \*, /,
  )
})
