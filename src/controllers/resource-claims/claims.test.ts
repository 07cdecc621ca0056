import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../client/controller/controller.ts'
import { resourceClaims as claims, type Pod, type ResourceClaim } from '../../client/kinds.ts'
import { controllerReference } from '../../client/objects/owners.ts'
import type { Resource } from '../../client/resource.ts'
import { settleClaim } from './claims.ts'

const podOf = (uid: string, phase = 'Running'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'n', name: 'web-0', uid },
  spec: { containers: [], nodeName: 'node' },
  status: { phase },
})

/** A claim that was made for `owner` and, if it has it reserved, is: what is written of it, and whether it goes. */
async function settled({
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
  await settleClaim('n', 'c', { caches, client } as unknown as ReconcileContext)
  return done
}

test('a claim is kept for a pod that the cache does not show yet, or shows the one before of', async () => {
  const owner = podOf('new')
  for (const isReserved of [true, false]) {
    assert.deepEqual(await settled({ owner, isReserved, live: owner }), [])
    assert.deepEqual(await settled({ owner, isReserved, cached: podOf('old'), live: owner }), [])
    assert.deepEqual(await settled({ owner, isReserved, cached: owner }), [])
  }
})

test('a claim is given back by a pod that has ended, or has gone', async () => {
  const owner = podOf('p')
  assert.deepEqual(await settled({ owner, isReserved: true, cached: podOf('p', 'Succeeded') }), [
    'reserved for 0',
    'deleted',
  ])
  assert.deepEqual(await settled({ owner, isReserved: true, cached: podOf('next'), live: podOf('next') }), [
    'reserved for 0',
    'deleted',
  ])
  // Its owner is seen to by the garbage collector.
  assert.deepEqual(await settled({ owner, isReserved: true }), ['reserved for 0'])
})
