import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as ip from './ip-address.ts'

test('addresses are parsed, and written in canonical form', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['127.0.0.1', '127.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8::ABCD', '2001:db8::abcd'],
    ['2001:db8::0:0:0:abcd', '2001:db8::abcd'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
  ]
  for (const [text, canonical] of cases) assert.equal(ip.ipText(ip.parseIpAddress(text)), canonical, text)
})

test("an invalid address fails with Go's message", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'ParseAddr(""): unable to parse IP'],
    ['hello', 'ParseAddr("hello"): unable to parse IP'],
    ['%eth0', 'ParseAddr("%eth0"): missing IPv6 address'],
    ['127.0.0.256', 'ParseAddr("127.0.0.256"): IPv4 field has value >255'],
    ['127.0.0.01', 'ParseAddr("127.0.0.01"): IPv4 field has octet with leading zero'],
    ['127.0.0', 'ParseAddr("127.0.0"): IPv4 address too short'],
    ['1.2.3.4.5', 'ParseAddr("1.2.3.4.5"): IPv4 address too long'],
    ['1..2.3', 'ParseAddr("1..2.3"): IPv4 field must have at least one digit (at ".2.3")'],
    ['1.2.3.x', 'ParseAddr("1.2.3.x"): unexpected character (at "x")'],
    [':::1', 'ParseAddr(":::1"): each colon-separated field must have at least one digit (at ":1")'],
    ['1:2', 'ParseAddr("1:2"): address string too short'],
    ['1::2::3', 'ParseAddr("1::2::3"): multiple :: in address (at ":3")'],
    ['12345::', 'ParseAddr("12345::"): each group must have 4 or less digits (at "12345::")'],
    ['1:2:3:4:5:6:7:8:9', 'ParseAddr("1:2:3:4:5:6:7:8:9"): trailing garbage after address (at "9")'],
    ['1:2:3:4::5:6:7:8', 'ParseAddr("1:2:3:4::5:6:7:8"): the :: must expand to at least one field of zeros'],
    ['1:', 'ParseAddr("1:"): colon must be followed by more characters (at ":")'],
    ['fe80::1%', 'ParseAddr("fe80::1%"): zone must be a non-empty string'],
    [
      '1:2:1.2.3.4',
      'ParseAddr("1:2:1.2.3.4"): embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
    ],
    ['::1.2.3.256', 'ParseAddr("::1.2.3.256"): IPv4 field has value >255'],
  ]
  for (const [text, message] of cases) assert.throws(() => ip.parseIpAddress(text), { name: 'IpError', message }, text)
})

test('ranges retain the bits after the prefix until they are masked', () => {
  const range = ip.parseIpRange('192.168.1.7/16')
  assert.equal(ip.rangeText(range), '192.168.1.7/16')
  assert.equal(ip.rangeText(ip.masked(range)), '192.168.0.0/16')
  assert.equal(ip.rangeText(ip.masked(ip.parseIpRange('ffff::1/0'))), '::/0')
  assert.ok(ip.rangeContains(range, ip.parseIpAddress('192.168.255.255')))
  assert.ok(!ip.rangeContains(range, ip.parseIpAddress('192.169.0.0')))
  assert.ok(!ip.rangeContains(ip.parseIpRange('::/0'), ip.parseIpAddress('1.2.3.4')))
})

test("an invalid range fails with Go's message", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['1.2.3.4', 'netip.ParsePrefix("1.2.3.4"): no \'/\''],
    ['1.2.3.4/33', 'netip.ParsePrefix("1.2.3.4/33"): prefix length out of range'],
    ['1.2.3.4/08', 'netip.ParsePrefix("1.2.3.4/08"): bad bits after slash: "08"'],
    ['1.2.3.4/+8', 'netip.ParsePrefix("1.2.3.4/+8"): bad bits after slash: "+8"'],
    ['1.2.3.4/', 'netip.ParsePrefix("1.2.3.4/"): bad bits after slash: ""'],
    ['::1/129', 'netip.ParsePrefix("::1/129"): prefix length out of range'],
    ['fe80::1%a/64', 'netip.ParsePrefix("fe80::1%a/64"): IPv6 zones cannot be present in a prefix'],
    ['x/8', 'netip.ParsePrefix("x/8"): ParseAddr("x"): unable to parse IP'],
  ]
  for (const [text, message] of cases) assert.throws(() => ip.parseIpRange(text), { name: 'IpError', message }, text)
})

test('addresses are classified as in Go’s net/netip', () => {
  const kinds = (text: string): string => {
    const address = ip.parseIpAddress(text)
    const rules = {
      unspecified: ip.isUnspecified,
      loopback: ip.isLoopback,
      multicast: ip.isLinkLocalMulticast,
      local: ip.isLinkLocalUnicast,
      global: ip.isGlobalUnicast,
    }
    return Object.entries(rules)
      .filter(([, rule]) => rule(address))
      .map(([name]) => name)
      .join()
  }
  const cases: readonly (readonly [string, string])[] = [
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['127.1.2.3', 'loopback'],
    ['::1', 'loopback'],
    ['224.0.0.1', 'multicast'],
    ['224.0.1.1', ''],
    ['ff02::1', 'multicast'],
    ['ff12::1', 'multicast'],
    ['ff00::1', ''],
    ['169.254.169.254', 'local'],
    ['fe80::1', 'local'],
    ['febf::1', 'local'],
    ['fd80::1', 'global'],
    ['192.168.0.1', 'global'],
    ['255.255.255.255', ''],
    ['2001:db8::abcd', 'global'],
  ]
  for (const [text, expected] of cases) assert.equal(kinds(text), expected, text)
})
