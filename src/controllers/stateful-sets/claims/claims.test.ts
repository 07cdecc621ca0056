import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim, Pod } from '../../../client/kinds.ts'
import type { OwnerReference } from '../../../machinery/object.ts'
import { planOf } from '../decisions/plan.ts'
import { aPod, aSet, pods, situation } from '../set.fixture.ts'
import { claimChanges } from './changes.ts'
import { claimFrom } from './claim.ts'
import { claimOwners } from './owners.ts'

const templates = [{ metadata: { name: 'data', labels: { of: 'template' } }, spec: { accessModes: ['ReadWriteOnce'] } }]
type Policy = 'Retain' | 'Delete'
const setWith = (whenDeleted: Policy, whenScaled: Policy, replicas = 2) =>
  aSet({ replicas, volumeClaimTemplates: templates, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } })
const reference = (kind: string, name: string, uid: string): OwnerReference => ({
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
})
const bySet = reference('StatefulSet', 'web', 'set')
const byPod = (ordinal: number) => reference('Pod', `web-${ordinal}`, `uid-${ordinal}`)
const other = { ...reference('ConfigMap', 'x', 'x'), controller: undefined }

test('the retention policy decides the owner of a claim', () => {
  // With two replicas, ordinal 0 is desired, ordinal 5 is not.
  const cases: [Policy, Policy, number, OwnerReference[]][] = [
    ['Retain', 'Retain', 0, []],
    ['Retain', 'Retain', 5, []],
    ['Delete', 'Retain', 0, [bySet]],
    ['Delete', 'Retain', 5, [bySet]],
    ['Retain', 'Delete', 0, []],
    ['Retain', 'Delete', 5, [byPod(5)]],
    ['Delete', 'Delete', 0, [bySet]],
    ['Delete', 'Delete', 5, [byPod(5)]],
  ]
  for (const [whenDeleted, whenScaled, ordinal, expected] of cases) {
    const set = setWith(whenDeleted, whenScaled)
    const pod = aPod(ordinal, 'ready', 'old', set)
    const title = `deleted: ${whenDeleted}, scaled: ${whenScaled}, ordinal ${ordinal}`
    for (const existing of [[], [bySet], [byPod(ordinal)], [{ ...bySet, uid: 'previous set' }]]) {
      assert.deepEqual(claimOwners(existing, set, pod, ordinal) ?? existing, expected, title)
      assert.deepEqual(
        claimOwners([other, ...existing], set, pod, ordinal) ?? [other, ...existing],
        [other, ...expected],
        title,
      )
    }
  }
})

test('a claim with another controller is not changed', () => {
  const theirs = reference('Database', 'd', 'd')
  assert.equal(claimOwners([theirs], setWith('Delete', 'Delete'), aPod(0, 'ready'), 0), undefined)
  assert.deepEqual(claimOwners([bySet, theirs], setWith('Delete', 'Delete'), aPod(0, 'ready'), 0), [theirs])
})

test('a claim has the labels of its set selector', () => {
  assert.deepEqual(claimFrom(setWith('Retain', 'Retain'), templates[0]!, 1), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-web-1', namespace: 'ns', labels: { of: 'template', app: 'web' } },
    spec: { accessModes: ['ReadWriteOnce'] },
  })
  assert.deepEqual(claimFrom(setWith('Delete', 'Retain'), templates[0]!, 1).metadata.ownerReferences, [bySet])
})

test('claimChanges finds missing, changed and terminating claims', () => {
  const set = setWith('Delete', 'Retain')
  const pod = aPod(0, 'pending', 'old', set)
  const summary = (claim: PersistentVolumeClaim | undefined, of: Pod = pod) => {
    const { missing, changed, terminating } = claimChanges(set, of, () => claim)
    return [missing.length, changed.length, terminating]
  }
  const claim = claimFrom(set, templates[0]!, 0)
  assert.deepEqual(summary(undefined), [1, 0, []])
  assert.deepEqual(summary(claim), [0, 0, []])
  assert.deepEqual(summary({ ...claim, metadata: { ...claim.metadata, ownerReferences: [] } }), [0, 1, []])
  assert.deepEqual(summary({ ...claim, metadata: { ...claim.metadata, deletionTimestamp: 'now' } }), [
    0,
    0,
    ['data-web-0'],
  ])
})

test('claims of surplus pods get their pod as owner before it is deleted', () => {
  const set = setWith('Retain', 'Delete', 1)
  const claims = [0, 1].map((ordinal) => claimFrom(setWith('Retain', 'Delete', 2), templates[0]!, ordinal))
  const { phases } = planOf(situation(set, pods({ 0: 'ready', 1: 'ready' }, set), { claims }))
  assert.deepEqual(
    phases
      .flat()
      .map((step) => [
        step.do,
        step.do === 'correct' && step.claims.changed.map(({ metadata }) => metadata.ownerReferences),
      ]),
    [
      ['correct', [[byPod(1)]]],
      ['delete', false],
    ],
  )
})

test('new claim owners count as a pod update unless the pod is pending or surplus', () => {
  const updates = (state: 'pending' | 'ready', replicas: number) => {
    const set = setWith('Delete', 'Delete', replicas)
    const claims = [claimFrom(setWith('Retain', 'Retain', 1), templates[0]!, 0)]
    return planOf(situation(set, pods({ 0: state }, set), { claims }))
      .phases.flat()
      .map((step) => (step.do === 'correct' ? step.isUpdate : step.do))
  }
  assert.deepEqual(updates('ready', 1), [true])
  assert.deepEqual(updates('pending', 1), [false])
  assert.deepEqual(updates('ready', 0), [false, 'delete'])
})

test('a pod is not created while claims of its predecessor exist', () => {
  const set = setWith('Retain', 'Delete', 1)
  const claim = claimFrom(set, templates[0]!, 0)
  const stale = { ...claim, metadata: { ...claim.metadata, ownerReferences: [byPod(0)] } }
  assert.deepEqual(planOf(situation(set, [], { claims: [stale] })).phases.flat(), [])
  assert.equal(planOf(situation(set, [], { claims: [claim] })).phases.flat().length, 1)
})

test('a pending pod gets its missing claims', () => {
  const set = setWith('Retain', 'Retain', 1)
  const missing = (state: 'pending' | 'ready') =>
    planOf(situation(set, pods({ 0: state }, set)))
      .phases.flat()
      .flatMap((step) => (step.do === 'correct' ? step.claims.missing.map(({ metadata }) => metadata.name) : []))
  assert.deepEqual(missing('pending'), ['data-web-0'])
  assert.deepEqual(missing('ready'), [])
})
