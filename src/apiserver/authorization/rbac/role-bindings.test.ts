import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BoundRole, RoleBindings, roleKey } from './role-bindings.ts'
import type { PolicyRule, RoleRef, Subject } from './rule.ts'

const pods = { isResourceRequest: true, verb: 'get', group: '', resource: 'pods', subresource: '', name: '', path: '' }
const ref = (kind: string, name: string): RoleRef => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })

/** An index with changeable roles. */
function index() {
  const bindings = new RoleBindings()
  const roles = new Map<string, readonly PolicyRule[]>()
  const set = (key: string, rules: readonly PolicyRule[] | undefined): void => {
    if (rules) roles.set(key, rules)
    else roles.delete(key)
    bindings.roleChanged(key)
  }
  const decide = (user: string, groups: readonly string[], namespace: string): string => {
    let reason = ''
    bindings.visitBindings(user, groups, namespace, (held) => {
      const { rules, missing } = held.grants((roleRef, home) => roles.get(roleKey(roleRef, home)))
      reason = rules.decide(pods)?.reason ?? missing.join()
      return reason !== ''
    })
    return reason
  }
  return { bindings, set, decide }
}

const bound = (namespace: string, roleRef: RoleRef, ...subjects: Subject[]): BoundRole => ({
  namespace,
  name: 'b',
  roleRef,
  subjects,
})
const readPods = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]

test('bindings and roles may arrive in any order, and each change takes effect immediately', () => {
  const { bindings, set, decide } = index()
  const jane = { kind: 'User', name: 'jane' }
  const first = bound('shop', ref('Role', 'r'), jane)
  bindings.add(first)
  assert.equal(decide('jane', [], 'shop'), 'role.rbac.authorization.k8s.io "r" not found')
  set('shop/r', readPods)
  assert.equal(decide('jane', [], 'shop'), 'RBAC: allowed by RoleBinding "b/shop" of Role "r" to User "jane"')
  assert.equal(decide('jane', [], ''), '')
  set('shop/r', [])
  assert.equal(decide('jane', [], 'shop'), '')
  set('shop/r', readPods)
  bindings.remove(first)
  assert.equal(decide('jane', [], 'shop'), '')
  bindings.add(bound('', ref('ClusterRole', 'r'), jane))
  assert.equal(decide('jane', [], ''), 'clusterrole.rbac.authorization.k8s.io "r" not found')
})

test('subjects are users, groups and service accounts, by default of the binding’s namespace', () => {
  const { bindings, set, decide } = index()
  set('r', readPods)
  bindings.add(
    bound(
      'shop',
      ref('ClusterRole', 'r'),
      { kind: 'Group', name: 'devs' },
      { kind: 'ServiceAccount', name: 'robot' },
      { kind: 'ServiceAccount', name: 'far', namespace: 'ci' },
    ),
  )
  assert.equal(
    decide('jane', ['ops', 'devs'], 'shop'),
    'RBAC: allowed by RoleBinding "b/shop" of ClusterRole "r" to Group "devs"',
  )
  assert.equal(
    decide('system:serviceaccount:shop:robot', [], 'shop'),
    'RBAC: allowed by RoleBinding "b/shop" of ClusterRole "r" to ServiceAccount "robot/shop"',
  )
  assert.equal(
    decide('system:serviceaccount:ci:far', [], 'shop'),
    'RBAC: allowed by RoleBinding "b/shop" of ClusterRole "r" to ServiceAccount "far/ci"',
  )
  assert.equal(decide('system:serviceaccount:shop:far', [], 'shop'), '')
  assert.equal(decide('devs', [], 'shop'), '')
})

test('a subject listed twice is removed with its binding', () => {
  const { bindings, set, decide } = index()
  set('r', readPods)
  const twice = bound('', ref('ClusterRole', 'r'), { kind: 'User', name: 'jane' }, { kind: 'User', name: 'jane' })
  bindings.add(twice)
  assert.notEqual(decide('jane', [], ''), '')
  bindings.remove(twice)
  assert.equal(decide('jane', [], ''), '')
})
