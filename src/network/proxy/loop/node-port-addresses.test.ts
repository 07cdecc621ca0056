import assert from 'node:assert/strict'
import type { NetworkInterfaceInfo } from 'node:os'
import { test } from 'node:test'
import { nodePortAddresses } from './node-port-addresses.ts'

const address = (text: string, internal = false): NetworkInterfaceInfo => ({
  address: text,
  netmask: '',
  mac: '',
  cidr: null,
  internal,
  ...(text.includes(':') ? { family: 'IPv6' as const, scopeid: 0 } : { family: 'IPv4' as const }),
})

const interfaces = () => ({
  lo: [address('127.0.0.1', true), address('::1', true)],
  eth0: [address('192.0.2.7'), address('2001:db8::7'), address('fe80::1')],
  eth1: [address('198.51.100.7')],
})

const read = (ranges: readonly string[], family: 4 | 6 = 4) =>
  nodePortAddresses(ranges, family, family === 4 ? '192.0.2.7' : '2001:db8::7', interfaces)()

test('without ranges of the family, node ports are at all addresses', () => {
  assert.deepEqual(read([]), { isAll: true, addresses: ['192.0.2.7', '198.51.100.7'] })
  assert.deepEqual(read(['10.0.0.0/8'], 6), { isAll: true, addresses: ['2001:db8::7'] })
  assert(read(['0.0.0.0/0', '192.0.2.0/24']).isAll)
})

test('ranges select addresses, loopback only if a range has it', () => {
  assert.deepEqual(read(['192.0.2.0/24']), { isAll: false, addresses: ['192.0.2.7'] })
  assert.deepEqual(read(['127.0.0.0/8', '198.51.100.0/24']).addresses, ['127.0.0.1', '198.51.100.7'])
  assert.deepEqual(read(['203.0.113.0/24']), { isAll: false, addresses: [] })
})

test('primary selects the address of the Node', () => {
  assert.deepEqual(read(['primary']), { isAll: false, addresses: ['192.0.2.7'] })
  assert.deepEqual(read(['primary'], 6), { isAll: false, addresses: ['2001:db8::7'] })
  assert.deepEqual(nodePortAddresses(['primary'], 6, '::1', interfaces)(), { isAll: false, addresses: [] })
})
