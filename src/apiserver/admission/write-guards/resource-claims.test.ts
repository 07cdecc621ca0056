import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedDrivers, isOnNode } from './resource-claims.ts'

const key = 'authentication.kubernetes.io/node-name'
const driver = 'system:serviceaccount:default:driver'

for (const [what, name, nodes, node, expected] of [
  ['its node', driver, ['n1'], 'n1', true],
  ['another node', driver, ['n1'], 'n2', false],
  ['devices of several nodes', driver, ['n1'], undefined, false],
  ['a token of no node', driver, [], 'n1', false],
  ['two nodes', driver, ['n1', 'n2'], 'n1', false],
  ['an invalid node name', driver, ['no_node!'], 'no_node!', false],
  ['a kubelet', 'system:node:n1', ['n1'], 'n1', false],
  ['an invalid service account name', 'system:serviceaccount:driver', ['n1'], 'n1', false],
] as const)
  test(`isOnNode: ${what}`, () => {
    assert.equal(isOnNode({ name, groups: [], extra: { [key]: [...nodes] } }, node), expected)
  })

test('changedDrivers returns the drivers of added, changed and removed devices', () => {
  const device = (driver: string, device: string, more: object = {}) => ({ driver, pool: 'p', device, ...more })
  const eth = { networkData: { interfaceName: 'eth0' } }
  const devices = [
    device('changed', '1', { networkData: { interfaceName: 'eth1' } }),
    device('same', '2', eth),
    device('added', '3'),
  ]
  const old = [device('same', '2', eth), device('changed', '1', eth), device('gone', '4')]
  assert.deepEqual(changedDrivers({ devices }, { devices: old }), ['added', 'changed', 'gone'])
  assert.deepEqual(changedDrivers({}, {}), [])
  assert.deepEqual(
    changedDrivers({ devices: [device('shared', '1', { shareID: 'a' })] }, { devices: [device('shared', '1')] }),
    ['shared'],
  )
})
