import assert from 'node:assert/strict'
import test from 'node:test'
import * as names from './names.ts'

const {
  dnsSubdomain,
  dnsLabel,
  dns1035Label,
  qualifiedName,
  labelValue,
  configMapKey,
  portName,
  ipAddress,
  cidr,
  pathSegment,
  relaxedEnvVarName,
} = names

test('valid texts are accepted by every rule', () => {
  const accepted: [names.TextRule, string[]][] = [
    [dnsSubdomain, ['a', 'dots.are.fine', '1st', 'a'.repeat(253)]],
    [dnsLabel, ['a', '1-a', 'a'.repeat(63)]],
    [dns1035Label, ['a', 'a-1']],
    [pathSegment, ['system:Colon', 'a b', '...']],
    [qualifiedName, ['A_b.c', 'example.com/Key_1.x']],
    [labelValue, ['', 'V-1_a.B']],
    [configMapKey, ['KEY_NAME', '.hidden', 'a..b']],
    [relaxedEnvVarName, ['1 odd{name}']],
    [portName, ['http', 'a-1']],
    [ipAddress, ['10.9.8.7', '2001:db8::ffff', '::']],
    [cidr, ['10.0.0.0/8', '2001:db8::/64', '0.0.0.0/0']],
  ]
  for (const [rule, values] of accepted)
    for (const value of values) assert.deepEqual(rule(value), [], `${rule.name}(${value})`)
})

test("invalid texts are rejected with upstream's messages", () => {
  const rejected: [names.TextRule, string, (string | RegExp)[]][] = [
    [
      dnsSubdomain,
      'Upper',
      [
        new RegExp(
          String.raw`^a lowercase RFC 1123 subdomain must .* \(e\.g\. 'example\.com', regex used ` +
            String.raw`for validation is '\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\(\\\.\[a-z0-9\]`,
        ),
      ],
    ],
    [dnsSubdomain, 'a'.repeat(254), ['must be no more than 253 characters']],
    [dnsLabel, 'rp.dots', ['must not contain dots']],
    [dnsLabel, 'A', [/^a lowercase RFC 1123 label must .*\(e\.g\. 'my-name', {2}or '123-abc', regex/]],
    [
      dns1035Label,
      '1st',
      [
        new RegExp(
          String.raw`^a DNS-1035 label must .*\(e\.g\. 'my-name', {2}or 'abc-123', regex ` +
            String.raw`used for validation is '\[a-z\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?'\)$`,
        ),
      ],
    ],
    [pathSegment, '..', ["may not be '..'"]],
    [pathSegment, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
    [qualifiedName, 'a/', ['name part must be non-empty', /^name part must consist of/]],
    [qualifiedName, '/a', ['prefix part must be non-empty']],
    [
      qualifiedName,
      'a/b/c',
      [
        new RegExp(
          '^a valid label key must consist .* with an optional DNS ' +
            String.raw`subdomain prefix and '/' \(e\.g\. 'example\.com/MyName'\)$`,
        ),
      ],
    ],
    [qualifiedName, 'Upper.Prefix/a', [/^prefix part a lowercase RFC 1123 subdomain/]],
    [qualifiedName, 'k'.repeat(64), ['name part must be no more than 63 bytes']],
    [labelValue, 'x'.repeat(64), ['must be no more than 63 bytes']],
    [qualifiedName, `${'p'.repeat(254)}/a`, ['prefix part must be no more than 253 bytes']],
    [
      names.underscoredSubdomain,
      'A',
      [/^a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '\.'/],
    ],
    [labelValue, '-', [/^a valid label must be an empty string or consist of/]],
    [
      configMapKey,
      'a b',
      [
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " +
          "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    [configMapKey, '..x', ["must not start with '..'"]],
    [relaxedEnvVarName, 'a=b', [/printable ASCII/]],
    [
      portName,
      '-a--1234567890abc',
      [
        'must be no more than 15 characters',
        'must not contain consecutive hyphens',
        'must not begin or end with a hyphen',
      ],
    ],
    [ipAddress, '1.2.3', [/^must be a valid IP address/]],
    [ipAddress, '010.1.1.1', ['must not have leading 0s']],
    [cidr, '10.0.0.0/33', [/^must be a valid CIDR value/]],
    [cidr, '010.0.0.0/8', [/^must not have leading 0s in IP or prefix length$/]],
    [cidr, '::ffff:10.0.0.0/104', [/^must not have an IPv4-mapped IPv6 address$/]],
    [cidr, '10.0.0.1/24', [/^must not have bits set beyond the prefix length$/]],
    [cidr, 'fd00::1/64', [/^must not have bits set beyond the prefix length$/]],
  ]
  for (const [rule, value, expected] of rejected) {
    const errors = rule(value)
    assert.equal(errors.length, expected.length, `${rule.name}(${value}): ${errors.join('; ')}`)
    errors.forEach((error, at) => {
      const want = expected[at] ?? ''
      if (typeof want === 'string') assert.equal(error, want)
      else assert.match(error, want)
    })
  }
})

test('a generateName may end in a dash', () => {
  assert.deepEqual(dnsSubdomain('web-', true), [])
  assert.equal(dnsSubdomain('web-').length, 1)
  assert.deepEqual(pathSegment('..', true), [])
})
