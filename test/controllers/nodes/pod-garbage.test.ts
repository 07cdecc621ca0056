/** Pods of deleted nodes, with shorter delays than in a cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Connection } from '../../../src/client/connection/connection.ts'
import { runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import { type Pod, pods } from '../../../src/client/kinds.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { podGarbage } from '../../../src/controllers/nodes/pod-garbage/controller.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const merge = 'application/merge-patch+json'
const core = '/api/v1/namespaces/default'

test('pods are deleted some time after their node, and ended pods beyond the limit', async (t) => {
  const cluster = await testCluster(t, { controllers: ['serviceaccount'] })
  await waitFor('the account', () => cluster.call('GET', `${core}/serviceaccounts/default`))
  const connection = new Connection(cluster.client)
  const client = new RestClient(connection)
  const logged: string[] = []
  const log = (line: string) => void logged.push(line)
  const informers = new SharedInformers(client, log)
  const running = runController(
    podGarbage({ maxEnded: 1, quarantineMs: 300, periodMs: 100 }),
    { informers, client },
    log,
  )
  t.after(async () => {
    await Promise.all([running.stop(), informers.stop()])
    connection.close()
  })
  const seen = new Map<string, Pod>()
  informers.of(pods).onChange((pod) => pod && seen.set(pod.metadata.name ?? '', pod))
  await running.synced

  await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
  const make = (name: string, nodeName?: string) =>
    cluster.call('POST', `${core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
    })
  await make('orphan', 'n')
  await make('waiting')
  for (const name of ['done-1', 'done-2']) {
    await make(name, 'n')
    await cluster.call('PATCH', `${core}/pods/${name}/status`, { status: { phase: 'Succeeded' } }, merge)
  }
  const left = async () =>
    (await client.list(pods, { namespace: 'default' })).items.map(({ metadata }) => metadata.name)
  await waitFor('one that has ended to go', async () => (await left()).join() === 'done-2,orphan,waiting')
  await cluster.call('DELETE', '/api/v1/nodes/n')
  await waitFor('the pods of the node to go', async () => (await left()).join() === 'waiting')
  const { status } = seen.get('orphan')!
  assert.equal(status?.phase, 'Failed')
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  assert.deepEqual(
    [target?.status, target?.reason, target?.message],
    ['True', 'DeletionByPodGC', 'PodGC: node no longer exists'],
  )
  assert.deepEqual(logged, [])
})
