import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide, type OwnerStanding } from './decision.ts'

const owner = (standing: OwnerStanding) => ({
  standing,
  reference: { apiVersion: 'v1', kind: 'ConfigMap', name: standing, uid: standing },
})
const judged = (standings: readonly OwnerStanding[], more: { finalizers?: string[]; hasDependents?: boolean } = {}) =>
  decide({
    owners: standings.map(owner),
    finalizers: more.finalizers ?? [],
    hasDependents: more.hasDependents ?? false,
  })

test('what has an owner that stays is kept, without its other owners', () => {
  assert.deepEqual(judged(['solid']), { action: 'keep' })
  assert.deepEqual(judged([]), { action: 'keep' })
  assert.deepEqual(judged(['dangling', 'solid', 'waiting']), { action: 'release', owners: [owner('solid').reference] })
})

test('what has none goes, as its finalizers say', () => {
  assert.deepEqual(judged(['dangling']), { action: 'delete', policy: 'Background' })
  assert.deepEqual(judged(['dangling'], { finalizers: ['orphan'] }), { action: 'delete', policy: 'Orphan' })
  assert.deepEqual(judged(['dangling'], { finalizers: ['foregroundDeletion'] }), {
    action: 'delete',
    policy: 'Foreground',
  })
})

test('below an owner that waits, what has dependents waits for them too', () => {
  assert.deepEqual(judged(['waiting', 'dangling'], { hasDependents: true }), { action: 'delete', policy: 'Foreground' })
  assert.deepEqual(judged(['waiting']), { action: 'delete', policy: 'Background' })
  assert.deepEqual(judged(['dangling'], { hasDependents: true }), { action: 'delete', policy: 'Background' })
})
