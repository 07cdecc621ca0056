import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpaqueValue } from '../../values.ts'
import { call, faultOf, plain } from '../call.fixture.ts'

const ip = (text: string) => call('string_to_ip', text)
const cidr = (text: string) => call('string_to_cidr', text)

test('addresses are classified', () => {
  assert.equal(call('ip_to_string', ip('2001:DB8::ABCD')), '2001:db8::abcd')
  assert.equal(call('ip_family', ip('127.0.0.1')), 4n)
  assert.equal(call('ip_family', ip('::1')), 6n)
  assert.equal(call('ip_is_canonical', '2001:db8::abcd'), true)
  assert.equal(call('ip_is_canonical', '2001:DB8::ABCD'), false)
  assert.equal(call('ip_is_loopback', ip('127.0.0.1')), true)
  assert.equal(call('ip_is_unspecified', ip('::')), true)
  assert.equal(call('ip_is_link_local_multicast', ip('ff02::1')), true)
  assert.equal(call('ip_is_link_local_unicast', ip('169.254.169.254')), true)
  assert.equal(call('ip_is_global_unicast', ip('192.168.0.1')), true)
})

test('invalid addresses, zones and IPv4-mapped addresses are rejected', () => {
  for (const text of ['127.0.0.256', ':::1', '', 'fe80::1%eth0', '::ffff:1.2.3.4', '01.2.3.4'])
    assert.equal(call('is_ip', text), false, text)
  assert.equal(
    faultOf(() => ip('192.168.0.1.0')),
    'IP Address "192.168.0.1.0" parse error during conversion from string: ParseAddr("192.168.0.1.0"): IPv4 ' +
      'address too long',
  )
  assert.equal(
    faultOf(() => ip('fe80::1%en0')),
    'IP address "fe80::1%en0" with zone value is not allowed',
  )
  assert.equal(
    faultOf(() => ip('::ffff:192.168.0.1')),
    'IPv4-mapped IPv6 address "::ffff:192.168.0.1" is not allowed',
  )
})

test('a range contains addresses and ranges of its own family', () => {
  assert.equal(call('cidr_contains_ip_string', cidr('192.168.0.0/24'), '192.168.0.1'), true)
  assert.equal(call('cidr_contains_ip_ip', cidr('192.168.0.0/24'), ip('192.168.1.1')), false)
  assert.equal(call('cidr_contains_cidr_string', cidr('192.168.0.0/16'), '192.168.10.0/24'), true)
  assert.equal(call('cidr_contains_cidr', cidr('192.168.0.0/16'), cidr('192.168.0.0/16')), true)
  assert.equal(call('cidr_contains_cidr', cidr('192.168.1.0/24'), cidr('192.168.2.0/24')), false)
  assert.equal(call('cidr_contains_cidr', cidr('192.168.0.0/24'), cidr('192.168.0.0/16')), false)
  assert.equal(call('cidr_contains_cidr_string', cidr('::/0'), '1.2.3.4/32'), false)
})

test('a range has an address, a mask and a prefix length, and ranges are compared by all of them', () => {
  assert.equal(call('cidr_to_string', cidr('192.168.0.1/24')), '192.168.0.1/24')
  assert.equal(call('cidr_to_string', call('cidr_masked', cidr('192.168.0.1/24'))), '192.168.0.0/24')
  assert.equal(call('ip_to_string', call('cidr_ip', cidr('192.168.0.1/24'))), '192.168.0.1')
  assert.equal(call('cidr_prefix_length', cidr('::1/128')), 128n)
  const same = (a: string, b: string): boolean => {
    const [x, y] = [cidr(a), cidr(b)]
    return x instanceof OpaqueValue && y instanceof OpaqueValue && x.equals(y)
  }
  assert.ok(same('2001:DB8::/32', '2001:db8::/32'))
  assert.ok(!same('192.168.0.1/24', '192.168.0.0/24'))
})

test("invalid ranges fail with Go's messages", () => {
  for (const text of ['192.168.0.0/33', '::1/129', '192.168.0.0', '192.168.0.0/', '::ffff:1.2.3.4/120'])
    assert.equal(call('is_cidr', text), false, text)
  const failed = 'network address parse error during conversion from string: '
  assert.equal(
    faultOf(() => cidr('192.168.0.0/33')),
    `${failed}${failed}netip.ParsePrefix("192.168.0.0/33"): prefix length out of range`,
  )
  assert.equal(
    faultOf(() => cidr('::ffff:1.2.3.4/120')),
    `${failed}IPv4-mapped IPv6 address "::ffff:1.2.3.4/120" is not allowed`,
  )
})

test('a URL is split into its parts', () => {
  const url = call('string_to_url', 'https://user:pass@example.com:80/path with spaces/?k1=a&k2=b&k2=c#fragment')
  assert.equal(call('url_get_scheme', url), 'https')
  assert.equal(call('url_get_host', url), 'example.com:80')
  assert.equal(call('url_get_hostname', url), 'example.com')
  assert.equal(call('url_get_port', url), '80')
  assert.equal(call('url_get_escaped_path', url), '/path%20with%20spaces/')
  assert.deepEqual(plain(call('url_get_query', url)), [
    ['k1', ['a']],
    ['k2', ['b', 'c']],
  ])
  assert.equal(call('is_url_string', '../relative-path'), false)
  assert.equal(
    faultOf(() => call('string_to_url', '../relative-path')),
    'URL parse error during conversion from string: parse "../relative-path": invalid URI for request',
  )
})
