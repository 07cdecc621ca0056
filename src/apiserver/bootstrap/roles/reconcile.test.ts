import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BindingObject, bootstrapRoles, type RoleObject } from './bootstrap-roles.ts'
import { reconciledBinding, reconciledRole } from './reconcile.ts'

const roles = bootstrapRoles(() => false)
const role = (name: string): RoleObject =>
  structuredClone(roles.clusterRoles.find(({ metadata }) => metadata.name === name)!)
const binding = (name: string): BindingObject =>
  structuredClone(roles.clusterRoleBindings.find(({ metadata }) => metadata.name === name)!)
const off = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }

test('up-to-date roles and bindings are not changed', () => {
  for (const one of [...roles.clusterRoles, ...roles.roles])
    assert.equal(reconciledRole(one, one), undefined, one.metadata.name)
  for (const one of [...roles.clusterRoleBindings, ...roles.roleBindings])
    assert.equal(reconciledBinding(one, one), undefined, one.metadata.name)
})

test('missing rules, labels and annotations are added, additional ones are retained', () => {
  const expected = role('system:basic-user')
  const extra = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
  const existing: RoleObject = {
    ...expected,
    rules: [extra, ...expected.rules!.slice(0, -1)],
    metadata: { name: 'system:basic-user', labels: { mine: 'yes' } },
  }
  const { rules, metadata } = reconciledRole(existing, expected)!
  assert.deepEqual(metadata.labels, { 'kubernetes.io/bootstrapping': 'rbac-defaults', mine: 'yes' })
  assert.deepEqual(metadata.annotations, expected.metadata.annotations)
  assert.deepEqual(rules, [...existing.rules!, ...expected.rules!.slice(-1)])
  assert.equal(reconciledRole({ ...expected, rules: [extra, ...expected.rules!] }, expected), undefined)
})

test('aggregated rules are not reconciled, selectors are', () => {
  const expected = role('view')
  assert.equal(reconciledRole({ ...expected, rules: [] }, expected), undefined)
  const mine = { matchLabels: { mine: 'yes' } }
  const { aggregationRule } = reconciledRole(
    { ...expected, aggregationRule: { clusterRoleSelectors: [mine] } },
    expected,
  )!
  assert.deepEqual(aggregationRule, {
    clusterRoleSelectors: [mine, ...expected.aggregationRule!.clusterRoleSelectors!],
  })
})

test('a role with its own rules loses its aggregation rule, gets missing rules and retains additional ones', () => {
  const expected = role('system:basic-user')
  const extra = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
  const mended = reconciledRole(
    { ...expected, rules: [extra], aggregationRule: { clusterRoleSelectors: [{ matchLabels: { mine: 'yes' } }] } },
    expected,
  )!
  assert.ok(!('aggregationRule' in mended))
  assert.deepEqual(mended.rules![0], extra)
  assert.equal(reconciledRole(mended, expected), undefined)
})

test('missing subjects are added, additional ones retained; a binding to another role is replaced', () => {
  const expected = binding('system:basic-user')
  const jane = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }
  assert.deepEqual(reconciledBinding({ ...expected, subjects: [jane] }, expected)!.object.subjects, [
    jane,
    ...expected.subjects!,
  ])
  assert.equal(reconciledBinding({ ...expected, subjects: [jane, ...expected.subjects!] }, expected), undefined)
  const ofAnother = { ...expected, roleRef: { ...expected.roleRef, name: 'other' }, subjects: [jane] }
  assert.deepEqual(reconciledBinding(ofAnother, expected), { object: expected, replace: true })
})

test('a role or binding with the annotation autoupdate=false is not changed', () => {
  const expected = role('system:basic-user')
  assert.equal(
    reconciledRole({ ...expected, rules: [], metadata: { name: 'system:basic-user', annotations: off } }, expected),
    undefined,
  )
  const bound = binding('system:basic-user')
  assert.equal(
    reconciledBinding({ ...bound, subjects: [], metadata: { ...bound.metadata, annotations: off } }, bound),
    undefined,
  )
})

test('admin includes edit, and edit includes view', () => {
  const [view, edit, admin] = ['view', 'edit', 'admin'].map((name) => role(name).rules!)
  assert.deepEqual(edit!.slice(-view!.length), view)
  assert.deepEqual(admin!.slice(0, edit!.length), edit)
})
