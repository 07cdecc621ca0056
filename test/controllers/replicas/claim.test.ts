/** Adoption and release against a server: a deleted owner adopts nothing, even with a stale cache. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Connection } from '../../../src/client/connection/connection.ts'
import { type Pod, pods, type ReplicaSet, replicaSets } from '../../../src/client/kinds.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { claimObjects } from '../../../src/controllers/pods/owners/claim.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { controllerName, Workloads } from './workloads.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount'] })
const finalizers = ['example.com/tracked']

test('an owner adopts matching orphans once and releases others', async (t) => {
  const { all, claim } = await owned(t, 'adopt')
  await all.makePod('stray', 'web')
  await all.makePod('other', 'other')
  const adopted = await claim(await all.replicaSet('web'))
  assert.deepEqual(
    adopted.map(({ metadata }) => metadata.name),
    ['stray'],
  )
  assert.deepEqual([controllerName(adopted[0]!), adopted[0]?.metadata.finalizers], ['web', finalizers])
  assert.equal((await claim(await all.replicaSet('web'))).length, 1)
  await all.patch(`${all.core}/pods/stray`, { metadata: { labels: { app: 'loose' } } })
  assert.deepEqual(await claim(await all.replicaSet('web')), [])
  const [released] = await all.pods('loose')
  assert.deepEqual([controllerName(released!), released?.metadata.finalizers], [undefined, undefined])
})

test('an owner that was deleted or replaced meanwhile adopts nothing', async (t) => {
  const { all, claim } = await owned(t, 'deleted')
  const stale = await all.replicaSet('web')
  const path = `${all.apps}/replicasets/web`
  await all.makePod('stray', 'web')
  await all.patch(path, { metadata: { finalizers: ['example.com/hold'] } })
  await all.delete(path)
  assert.deepEqual(await claim(stale), [])
  await all.patch(path, { metadata: { finalizers: null } })
  assert.deepEqual(await claim(stale), [])
  await all.makeReplicaSet('web', { replicas: 0 })
  assert.deepEqual(await claim(stale), [])
  assert.equal(controllerName((await all.pods('web'))[0]!), undefined)
})

test('a deleted or replaced object is neither adopted nor released', async (t) => {
  const { all, client, owner, matching } = await owned(t, 'gone')
  const seen = await all.makePod('stray', 'web')
  await all.delete(`${all.core}/pods/stray`)
  assert.deepEqual(
    await claimObjects([seen], { owner, owners: replicaSets, resource: pods, matches: matching }, client),
    [],
  )
  const reference = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'web',
    uid: owner.metadata.uid ?? '',
    controller: true,
  }
  const controlled: Pod = { ...seen, metadata: { ...seen.metadata, ownerReferences: [reference] } }
  for (const make of [async () => {}, () => all.makePod('stray', 'web')]) {
    await make()
    assert.deepEqual(
      await claimObjects([controlled], { owner, owners: replicaSets, resource: pods, matches: () => false }, client),
      [],
    )
  }
})

/** A ReplicaSet `web` in a new namespace without controllers, and its claim on all pods. */
async function owned(t: { after(cleanUp: () => unknown): void }, namespace: string) {
  const all = await Workloads.in(await cluster, namespace)
  const connection = new Connection((await cluster).client)
  t.after(() => connection.close())
  const client = new RestClient(connection)
  const owner = await all.makeReplicaSet('web', { replicas: 0 })
  const matching = ({ metadata }: Pod): boolean => metadata.labels?.app === 'web'
  const claim = async (by: ReplicaSet): Promise<Pod[]> =>
    await claimObjects(
      await all.list<Pod>(`${all.core}/pods`),
      {
        owner: { ...by, apiVersion: 'apps/v1', kind: 'ReplicaSet' },
        owners: replicaSets,
        resource: pods,
        matches: matching,
        finalizers,
      },
      client,
    )
  return { all, client, owner, matching, claim }
}
