import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressAt, parseCidr, rangeHas } from './cidr.ts'

test('addressAt returns addresses of IPv4 and IPv6 ranges', () => {
  assert.equal(addressAt(parseCidr('10.96.0.0/16')!, 1), '10.96.0.1')
  assert.equal(addressAt(parseCidr('10.255.255.77/24')!, 256), '11.0.0.0')
  assert.equal(addressAt(parseCidr('fd00:10:96::/112')!, 1), 'fd00:10:96::1')
  assert.equal(addressAt(parseCidr('::ffff:10.0.0.0/104')!, 10), '::ffff:a00:a')
})

test('parseCidr returns undefined for invalid ranges', () => {
  for (const text of ['', '10.96.0.0', '10.96.0/16', '10.96.0.0/33', '10.96.0.0/', 'fd00::/129', 'x/8'])
    assert.equal(parseCidr(text), undefined, text)
})

test('rangeHas compares the prefix of the same family', () => {
  assert(rangeHas('10.0.0.0/8', '10.255.0.1'))
  assert(rangeHas('fd00::/64', 'fd00::7'))
  for (const address of ['11.0.0.1', 'fd00::7', '', 'x']) assert(!rangeHas('10.0.0.0/8', address), address)
  assert(!rangeHas('10.0.0.0', '10.0.0.0'))
})
