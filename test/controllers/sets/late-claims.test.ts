/**
 * A StatefulSet whose controller has a stale cache of claims: they are still deleted with their pods and not reused.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { persistentVolumeClaims } from '../../../src/client/kinds.ts'
import { statefulSetController } from '../../../src/controllers/stateful-sets/stateful-set.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { PausedWatches } from '../restarts/paused-watches.ts'
import { PlayedNamespace } from './played-namespace.ts'
import { setOf } from './stateful-set-model.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount-controller'] })

/** A set with a claim for each pod, which is deleted with it, and its controller. */
async function lateSet(
  t: TestContext,
  name: string,
): Promise<{ ns: PlayedNamespace; watches: PausedWatches; path: string }> {
  const all = await cluster
  const watches = PausedWatches.of(t, all.client, persistentVolumeClaims, () => [
    statefulSetController({ concurrency: 1 }),
  ])
  const ns = await PlayedNamespace.in(all, name)
  const path = `${ns.apps}/statefulsets/web`
  await ns.post(`${ns.apps}/statefulsets`, setOf('OrderedReady', 'Delete', 1))
  await ns.playUntil('web', 'the first pod', async () => (await ns.living('web')).length === 1)
  return { ns, watches, path }
}

test('a claim that is not in the cache yet is deleted with its pod', async (t) => {
  const { ns, watches, path } = await lateSet(t, 'unseen')
  watches.pause()
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

test('no pod is created on a terminating claim that is not in the cache yet', async (t) => {
  const { ns, watches, path } = await lateSet(t, 'found')
  watches.pause()
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
    'the change to be observed',
    async () => (await ns.get<{ status: { observedGeneration: number } }>(path)).status.observedGeneration === 2,
  )
  assert.deepEqual(await ns.living('web'), ['web-0'])
  watches.resume()
  await ns.patch(claim, { metadata: { finalizers: null } })
  await ns.playUntil('web', 'the second pod', async () => (await ns.living('web')).length === 2)
  assert.ok((await ns.claims()).every(({ metadata }) => !metadata.deletionTimestamp))
})
