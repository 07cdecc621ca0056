import assert from 'node:assert/strict'
import test from 'node:test'
import type { UserInfo } from '../../http/exchange.ts'
import { impersonationModes, type WantedUser } from './impersonation-modes.ts'

const somebody: UserInfo = { name: 'jane', groups: [] }
const agent = (node: string): UserInfo => ({ name: 'system:serviceaccount:ns:agent', groups: [], extra: { 'authentication.kubernetes.io/node-name': [node] } })
const wanted = (name: string, more: Partial<WantedUser> = {}): WantedUser => ({ name, uid: '', groups: [], extra: new Map(), ...more })
const modesFor = (user: WantedUser, requestor = somebody) => impersonationModes.filter(({ applies }) => applies(user, requestor)).map(({ name }) => name)

test('which modes a user can be impersonated in', () => {
  const extra = (key: string, ...values: string[]) => ({ extra: new Map([[key, values]]) })
  const cases: readonly (readonly [string, readonly string[], WantedUser, UserInfo?])[] = [
    ['a user', ['user-info'], wanted('alice', { uid: 'u', groups: ['dev'], ...extra('acme.io/team', 'blue') })],
    ['a user of system:masters', [], wanted('alice', { groups: ['dev', 'system:masters'] })],
    ['an empty group', [], wanted('alice', { groups: [''] })],
    ['an extra that names no domain', [], wanted('alice', extra('scopes', 'view'))],
    ['an extra with capital letters', [], wanted('alice', extra('acme.io/Team', 'blue'))],
    ['an empty extra', [], wanted('alice', extra('acme.io/team', ''))],
    ['a node', ['arbitrary-node'], wanted('system:node:n1')],
    ['a node with groups', [], wanted('system:node:n1', { groups: ['system:nodes'] })],
    ['what cannot be a node', ['user-info'], wanted('system:node:N_1')],
    ['the own node', ['associated-node', 'arbitrary-node'], wanted('system:node:n1'), agent('n1')],
    ['the node of somebody else', ['arbitrary-node'], wanted('system:node:n1'), agent('n2')],
    ['who says to be on a node, and is no service account', ['arbitrary-node'], wanted('system:node:n1'), { ...agent('n1'), name: 'jane' }],
    ['a service account', ['serviceaccount'], wanted('system:serviceaccount:ns:robot')],
    ['a service account with groups', [], wanted('system:serviceaccount:ns:robot', { groups: ['dev'] })],
    ['what cannot be a service account', ['user-info'], wanted('system:serviceaccount:robot')],
  ]
  for (const [title, expected, user, requestor] of cases) assert.deepEqual(modesFor(user, requestor), expected, title)
})

test('for the own node it does not matter which one that is', () => {
  const [{ asking, node }] = impersonationModes as readonly [(typeof impersonationModes)[number]]
  assert.deepEqual(asking?.(agent('n1')), asking?.(agent('n2')))
  assert.deepEqual(asking?.(agent('n1')).extra, { 'authentication.kubernetes.io/associated-node-keys': ['authentication.kubernetes.io/node-name'] })
  assert.equal(node, '*')
})
