import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../client/controller/controller.ts'
import { resourceClaims as claims, type Pod, type ResourceClaim } from '../../client/kinds.ts'
import { controllerReference } from '../../client/objects/owners.ts'
import type { Resource } from '../../client/resource.ts'
import { syncClaim } from './claims.ts'

const podOf = (uid: string, phase = 'Running'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'n', name: 'web-0', uid },
  spec: { containers: [], nodeName: 'node' },
  status: { phase },
})

/** Reconciles a claim of `owner`, optionally reserved for it, and returns the writes. */
async function sync({
  owner,
  isReserved,
  cached,
  live,
}: {
  owner: Pod
  isReserved: boolean
  cached?: Pod
  live?: Pod
}) {
  const claim: ResourceClaim = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { namespace: 'n', name: 'c', uid: 'c', ownerReferences: [controllerReference(owner)] },
    spec: {},
    status: isReserved ? { reservedFor: [{ resource: 'pods', name: 'web-0', uid: owner.metadata.uid ?? '' }] } : {},
  }
  const done: string[] = []
  const caches = { get: (of: Resource) => (of.plural === claims.plural ? claim : cached) } as unknown as Caches
  const client = {
    find: async () => live,
    async updateStatus(_: Resource, object: ResourceClaim) {
      done.push(`reserved for ${object.status?.reservedFor?.length}`)
      return object
    },
    delete: async () => void done.push('deleted'),
  }
  await syncClaim('n', 'c', { caches, client } as unknown as ReconcileContext)
  return done
}

test('a claim is retained for a pod that the cache has not or only as its predecessor', async () => {
  const owner = podOf('new')
  for (const isReserved of [true, false]) {
    assert.deepEqual(await sync({ owner, isReserved, live: owner }), [])
    assert.deepEqual(await sync({ owner, isReserved, cached: podOf('old'), live: owner }), [])
    assert.deepEqual(await sync({ owner, isReserved, cached: owner }), [])
  }
})

test('a claim is released when its pod has ended or was deleted', async () => {
  const owner = podOf('p')
  assert.deepEqual(await sync({ owner, isReserved: true, cached: podOf('p', 'Succeeded') }), [
    'reserved for 0',
    'deleted',
  ])
  assert.deepEqual(await sync({ owner, isReserved: true, cached: podOf('next'), live: podOf('next') }), [
    'reserved for 0',
    'deleted',
  ])
  // The garbage collector handles a missing owner.
  assert.deepEqual(await sync({ owner, isReserved: true }), ['reserved for 0'])
})
