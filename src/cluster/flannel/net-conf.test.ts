import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworkConfig } from '../../network/flannel/config/network-config.ts'
import { netConf, reachableRanges, routeBackend, settledNetConf, tunnelBackend } from './net-conf.ts'

const ranges = ['10.128.0.0/9']
const plan = { backend: undefined, usual: tunnelBackend, ranges }

test('a new cluster has the usual backend, or that of the flag', () => {
  const { network, enableIPv6, backendType, backend } = parseNetworkConfig(settledNetConf(undefined, plan))
  assert.deepEqual([network, enableIPv6, backendType], ['10.128.0.0/9', false, 'vxlan'])
  assert.equal(backend.DirectRouting, true)
  const flagged = parseNetworkConfig(settledNetConf(undefined, { ...plan, backend: 'vxlan' }))
  assert.deepEqual(flagged.backend, { Type: 'vxlan' })
})

test('the text of administrators stays as it is without another flag', () => {
  const stored = '{"network":"10.0.0.0/8","backend":{"type":"VXLAN","VNI":7}}'
  for (const backend of [undefined, 'vxlan']) assert.equal(settledNetConf(stored, { ...plan, backend }), stored)
})

test('a flag replaces the backend, and keeps other fields', () => {
  const stored = '{"network":"10.0.0.0/8","EnableNFTables":true,"backend":{"type":"vxlan","VNI":7}}'
  const text = settledNetConf(stored, { ...plan, backend: 'host-gw' })
  assert.deepEqual(JSON.parse(text), { network: '10.0.0.0/8', EnableNFTables: true, Backend: { Type: 'host-gw' } })
})

test('other ranges of pods replace the networks, also those of one family more or less', () => {
  const stored = netConf(routeBackend, ranges)
  const both = ['10.128.0.0/9', 'fd8c::/48']
  const text = settledNetConf(stored, { ...plan, ranges: both })
  const config = parseNetworkConfig(text)
  assert.deepEqual([config.network, config.ipv6Network, config.backendType], [...both, 'host-gw'])
  assert.equal(parseNetworkConfig(settledNetConf(text, plan)).ipv6Network, undefined)
  const moved = settledNetConf(stored, { ...plan, ranges: ['10.0.0.0/8'] })
  assert.equal(parseNetworkConfig(moved).network, '10.0.0.0/8')
})

test('a node without an address of a family has no network of that family', () => {
  const both = ['10.128.0.0/9', 'fd8c::/48']
  assert.deepEqual(reachableRanges(both, ['192.0.2.1']), ['10.128.0.0/9'])
  assert.deepEqual(reachableRanges(both, ['fd00::1', '192.0.2.1']), both)
})

test('a text that is wrong is an error with the name of the field', () => {
  assert.throws(() => settledNetConf('{"Network":"10"}', plan), /Network is "10"/)
})
