import assert from 'node:assert/strict'
import type { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { advertiseAddress } from './advertise-address.ts'

const address = (text: string, internal = false) => ({
  address: text,
  internal,
  family: text.includes(':') ? 'IPv6' : 'IPv4',
})
const interfaces = {
  lo: [address('127.0.0.1', true), address('::1', true)],
  eth0: [address('169.254.1.1'), address('fe80::1'), address('192.0.2.7'), address('2001:db8::7')],
} as unknown as ReturnType<typeof networkInterfaces>

test('the bind address is advertised, unless it is reachable from the same machine only', () => {
  assert.equal(advertiseAddress('192.0.2.9', 'IPv4', interfaces), '192.0.2.9')
  for (const local of ['127.0.0.1', '0.0.0.0', '::'])
    assert.equal(advertiseAddress(local, 'IPv4', interfaces), '192.0.2.7')
  assert.equal(advertiseAddress('0.0.0.0', 'IPv6', interfaces), '2001:db8::7')
  assert.equal(advertiseAddress('127.0.0.1', 'IPv4', { lo: interfaces.lo }), undefined)
})
