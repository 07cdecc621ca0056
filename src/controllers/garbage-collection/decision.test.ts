import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide, type OwnerStanding } from './decision.ts'

const owner = (standing: OwnerStanding) => ({
  standing,
  reference: { apiVersion: 'v1', kind: 'ConfigMap', name: standing, uid: standing },
})
const decision = (standings: readonly OwnerStanding[], more: { finalizers?: string[]; hasDependents?: boolean } = {}) =>
  decide({
    owners: standings.map(owner),
    finalizers: more.finalizers ?? [],
    hasDependents: more.hasDependents ?? false,
  })

test('an object with a solid owner is kept without its other owners', () => {
  assert.deepEqual(decision(['solid']), { action: 'keep' })
  assert.deepEqual(decision([]), { action: 'keep' })
  assert.deepEqual(decision(['dangling', 'solid', 'waiting']), {
    action: 'release',
    owners: [owner('solid').reference],
  })
})

test('an object without solid owners is deleted with the policy of its finalizers', () => {
  assert.deepEqual(decision(['dangling']), { action: 'delete', policy: 'Background' })
  assert.deepEqual(decision(['dangling'], { finalizers: ['orphan'] }), { action: 'delete', policy: 'Orphan' })
  assert.deepEqual(decision(['dangling'], { finalizers: ['foregroundDeletion'] }), {
    action: 'delete',
    policy: 'Foreground',
  })
})

test('an object with dependents and a waiting owner is deleted in the foreground', () => {
  assert.deepEqual(decision(['waiting', 'dangling'], { hasDependents: true }), {
    action: 'delete',
    policy: 'Foreground',
  })
  assert.deepEqual(decision(['waiting']), { action: 'delete', policy: 'Background' })
  assert.deepEqual(decision(['dangling'], { hasDependents: true }), { action: 'delete', policy: 'Background' })
})
