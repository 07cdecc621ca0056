import assert from 'node:assert/strict'
import test from 'node:test'
import type { UserInfo } from '../../request-info/user-info.ts'
import { extraFault, groupFault, type ImpersonatedUser, impersonationModes } from './impersonation-modes.ts'

const somebody: UserInfo = { name: 'jane', groups: [] }
const agent = (node: string): UserInfo => ({
  name: 'system:serviceaccount:ns:agent',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': [node] },
})
const target = (name: string, more: Partial<ImpersonatedUser> = {}): ImpersonatedUser => ({
  name,
  uid: '',
  groups: [],
  extra: new Map(),
  ...more,
})
const modesFor = (user: ImpersonatedUser, requestor = somebody) =>
  impersonationModes.filter(({ applies }) => applies(user, requestor)).map(({ name }) => name)

test('impersonation modes by requested user', () => {
  const extra = (key: string, ...values: string[]) => ({ extra: new Map([[key, values]]) })
  const cases: readonly (readonly [string, readonly string[], ImpersonatedUser, UserInfo?])[] = [
    ['a user', ['user-info'], target('alice', { uid: 'u', groups: ['dev'], ...extra('acme.io/team', 'blue') })],
    ['a node', ['arbitrary-node'], target('system:node:n1')],
    ['a node with groups', [], target('system:node:n1', { groups: ['system:nodes'] })],
    ['an invalid node name', ['user-info'], target('system:node:N_1')],
    ['the own node', ['associated-node', 'arbitrary-node'], target('system:node:n1'), agent('n1')],
    ['the node of another agent', ['arbitrary-node'], target('system:node:n1'), agent('n2')],
    [
      'a user with a node name that is no service account',
      ['arbitrary-node'],
      target('system:node:n1'),
      { ...agent('n1'), name: 'jane' },
    ],
    ['a service account', ['serviceaccount'], target('system:serviceaccount:ns:robot')],
    ['a service account with groups', [], target('system:serviceaccount:ns:robot', { groups: ['dev'] })],
    ['an invalid service account name', ['user-info'], target('system:serviceaccount:robot')],
  ]
  for (const [title, expected, user, requestor] of cases)
    assert.deepEqual(modesFor(user, requestor), [...expected, 'legacy'], title)
})

test('some groups and extra values are allowed in the legacy mode only', () => {
  assert.equal(groupFault(['dev']), undefined)
  assert.equal(groupFault(['dev', 'system:masters'])?.why, 'impersonating the system:masters group is not allowed')
  assert.equal(groupFault([''])?.why, 'impersonating the empty string group is not allowed')
  const fault = (key: string, ...values: string[]) => extraFault(new Map([[key, values]]))
  assert.equal(fault('acme.io/team', 'blue'), undefined)
  assert.equal(fault('', 'a'), 'impersonating the empty string key in extra is not allowed')
  assert.equal(
    fault('scopes', 'view'),
    'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a ' +
      'domain-prefixed path (such as "acme.io/foo")',
  )
  assert.equal(
    fault('acme.io/Team', 'blue'),
    'impersonating a non-lowercase key in extra is not allowed: "acme.io/Team"',
  )
  assert.equal(fault('acme.io/team'), 'impersonating empty values in extra is not allowed')
  assert.equal(fault('acme.io/team', ''), 'impersonating the empty string value in extra is not allowed')
})

test('the check for the associated node does not depend on its name', () => {
  const [{ checkAs, node }] = impersonationModes as readonly [(typeof impersonationModes)[number]]
  assert.deepEqual(checkAs?.(agent('n1')), checkAs?.(agent('n2')))
  assert.deepEqual(checkAs?.(agent('n1')).extra, {
    'authentication.kubernetes.io/associated-node-keys': ['authentication.kubernetes.io/node-name'],
  })
  assert.equal(node, '*')
})
