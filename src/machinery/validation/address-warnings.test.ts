import assert from 'node:assert/strict'
import test from 'node:test'
import { addressWarnings, cidrWarnings } from './address-warnings.ts'

test('addresses and ranges that are not in canonical form cause a warning', () => {
  assert.deepEqual(addressWarnings('10.0.0.1', 'ip'), [])
  assert.deepEqual(addressWarnings('fd00::1', 'ip'), [])
  assert.deepEqual(addressWarnings(undefined, 'ip'), [])
  assert.deepEqual(addressWarnings('FD00:0:0::1', 'ip'), [
    'ip: IPv6 address "FD00:0:0::1" should be in RFC 5952 canonical format ("fd00::1")',
  ])
  assert.deepEqual(cidrWarnings('10.0.0.0/24', 'range'), [])
  assert.deepEqual(cidrWarnings('10.0.0.1/24', 'range'), [
    'range: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)',
  ])
  assert.deepEqual(cidrWarnings('FD00::/64', 'range'), [
    'range: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")',
  ])
  assert.deepEqual(cidrWarnings('nonsense', 'range'), [])
})
