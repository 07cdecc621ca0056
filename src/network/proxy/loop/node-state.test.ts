import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../../client/kinds.ts'
import { nodeState } from './node-state.ts'

const node = (...addresses: (readonly [type: string, address: string])[]): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'here', labels: { 'topology.kubernetes.io/zone': 'a' } },
  spec: { podCIDR: '10.244.0.0/24' },
  status: { addresses: addresses.map(([type, address]) => ({ type, address })) },
})

test('the primary family is that of the first internal address', () => {
  const state = nodeState(node(['ExternalIP', '203.0.113.1'], ['InternalIP', 'fd00::1'], ['InternalIP', '10.0.0.1']))
  assert.deepEqual(state, {
    primaryFamily: 6,
    addresses: { 4: '10.0.0.1', 6: 'fd00::1' },
    podCidrs: ['10.244.0.0/24'],
    zone: 'a',
  })
})

test('a bind address is the primary one', () => {
  const { primaryFamily, addresses } = nodeState(node(['InternalIP', '10.0.0.1']), 'fd00::9')
  assert.deepEqual([primaryFamily, addresses], [6, { 4: '10.0.0.1', 6: 'fd00::9' }])
  assert.equal(nodeState(node(['InternalIP', '10.0.0.1']), '0.0.0.0').addresses[4], '10.0.0.1')
})

test('without a Node, the addresses are loopback', () => {
  assert.deepEqual(nodeState(undefined).addresses, { 4: '127.0.0.1', 6: '::1' })
})
