import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { Outstanding } from './outstanding.ts'

const owner: KubeObject = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'web', uid: 'o' } }
const pod = (uid: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uid, uid, ownerReferences: [controllerReference(owner)] },
})

test('Outstanding is satisfied when both creations and deletions are observed', () => {
  const outstanding = new Outstanding(() => 0)
  assert.ok(outstanding.satisfied(owner))
  outstanding.creations.expectCreations('o', 1)
  outstanding.deletions.expectDeletions('o', ['old'])
  outstanding.observe(pod('new'), undefined)
  assert.ok(!outstanding.satisfied(owner))
  outstanding.observe(undefined, pod('old'))
  assert.ok(outstanding.satisfied(owner))
})

test('the expectations of a replaced owner are dropped', () => {
  const outstanding = new Outstanding(() => 0)
  outstanding.creations.expectCreations('o', 1)
  outstanding.observeOwner(owner, owner)
  assert.ok(!outstanding.satisfied(owner))
  outstanding.observeOwner({ ...owner, metadata: { name: 'web', uid: 'p' } }, owner)
  assert.ok(outstanding.satisfied(owner))
})
