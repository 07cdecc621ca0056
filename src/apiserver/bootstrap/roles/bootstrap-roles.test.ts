import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootstrapRoles } from './bootstrap-roles.ts'

const verbs = ['list', 'watch']
const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'example' }]

test('rights of a component are a ClusterRole and its binding to the user', () => {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs }]
  const { clusterRoles, clusterRoleBindings, roles } = bootstrapRoles(() => true, {
    components: [{ user: 'example', rules }],
  })
  assert.deepEqual(clusterRoles.find(({ metadata }) => metadata.name === 'example')?.rules, rules)
  const binding = clusterRoleBindings.find(({ metadata }) => metadata.name === 'example')
  assert.deepEqual(binding?.subjects, subjects)
  assert.equal(binding?.roleRef.kind, 'ClusterRole')
  assert.equal(binding?.roleRef.name, 'example')
  assert.equal(
    roles.some(({ metadata }) => metadata.name === 'example'),
    false,
  )
})

test('rights in one namespace are a Role and its binding there', () => {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'], verbs }]
  const own = { namespace: 'kube-system', rules }
  const { roles, roleBindings } = bootstrapRoles(() => true, {
    components: [{ user: 'example', rules: [], own }],
  })
  const role = roles.find(({ metadata }) => metadata.name === 'example')
  assert.equal(role?.metadata.namespace, 'kube-system')
  assert.deepEqual(role?.rules, rules)
  const binding = roleBindings.find(({ metadata }) => metadata.name === 'example')
  assert.equal(binding?.metadata.namespace, 'kube-system')
  assert.deepEqual(binding?.roleRef, { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'example' })
  assert.deepEqual(binding?.subjects, subjects)
})
