/**
 * A StatefulSet whose controller does not see claims yet that are there: they go with their pods all the same, and no
 * pod is made on one that goes.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { persistentVolumeClaims } from '../../../src/client/kinds.ts'
import { statefulSetController } from '../../../src/controllers/stateful-sets/stateful-set.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Hearing } from '../hearing.ts'
import { PlayedNamespace } from './played-namespace.ts'
import { setOf } from './stateful-set-model.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount-controller'] })

/** A set with a claim for each pod, which goes with it, and its controller. */
async function lateSet(t: TestContext, name: string): Promise<{ ns: PlayedNamespace; hearing: Hearing; path: string }> {
  const all = await cluster
  const hearing = Hearing.of(t, all.client, persistentVolumeClaims, () => [statefulSetController({ concurrency: 1 })])
  const ns = await PlayedNamespace.in(all, name)
  const path = `${ns.apps}/statefulsets/web`
  await ns.post(`${ns.apps}/statefulsets`, setOf('OrderedReady', 'Delete', 1))
  await ns.playUntil('web', 'the first pod', async () => (await ns.living('web')).length === 1)
  return { ns, hearing, path }
}

test('a claim that is not seen yet goes with its pod', async (t) => {
  const { ns, hearing, path } = await lateSet(t, 'unseen')
  hearing.deafen()
  await ns.patch(path, { spec: { replicas: 2 } })
  await ns.playUntil('web', 'the second pod', async () => (await ns.living('web')).length === 2)
  const { metadata } =
    (await ns.pods('web')).find(({ metadata }) => metadata.name === 'web-1') ?? assert.fail('no web-1')
  await ns.patch(path, { spec: { replicas: 1 } })
  await ns.playUntil('web', 'the second pod to go', async () => (await ns.pods('web')).length === 1)
  const owners = (await ns.claims()).map((claim) => [
    claim.metadata.name,
    claim.metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]),
  ])
  assert.deepEqual(owners, [
    ['data-web-0', undefined],
    ['data-web-1', [['Pod', metadata.uid]]],
  ])
})

test('no pod is made on a claim that is there, and was not seen yet', async (t) => {
  const { ns, hearing, path } = await lateSet(t, 'found')
  hearing.deafen()
  const claim = `${ns.core}/persistentvolumeclaims/data-web-1`
  await ns.post(`${ns.core}/persistentvolumeclaims`, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-web-1', finalizers: ['example.com/hold'] },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  await ns.delete(claim)
  await ns.patch(path, { spec: { replicas: 2 } })
  await waitFor(
    'the change to be seen',
    async () => (await ns.get<{ status: { observedGeneration: number } }>(path)).status.observedGeneration === 2,
  )
  assert.deepEqual(await ns.living('web'), ['web-0'])
  hearing.hear()
  await ns.patch(claim, { metadata: { finalizers: null } })
  await ns.playUntil('web', 'the second pod', async () => (await ns.living('web')).length === 2)
  assert.ok((await ns.claims()).every(({ metadata }) => !metadata.deletionTimestamp))
})
