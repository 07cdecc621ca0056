import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCheck, isChecked } from './index.ts'

const formats: Readonly<Record<string, { readonly good: readonly string[]; readonly bad: readonly string[] }>> = {
  bsonobjectid: { good: ['507f1f77bcf86cd799439011'], bad: ['507f1f77bcf86cd79943901', 'x07f1f77bcf86cd799439011'] },
  uri: {
    good: ['https://example.com/a?b#c', '/path', 'mailto:a@b', 'http://[::1]:80/'],
    bad: ['', 'example.com', 'a b', 'http://a b/', 'http://x:port/', '/%zz'],
  },
  email: { good: ['a@example.com', 'A B <a@b>', '"quoted x"@b'], bad: ['nobody', '@b', 'a@', 'a b@c', 'a..b@c'] },
  hostname: {
    good: ['example.com', '1a.b2', 'a', 'x-y.example.london'],
    bad: ['', '-a', 'a_b', 'a..b', 'a.b', `${'a'.repeat(64)}.com`],
  },
  ipv4: { good: ['10.1.2.3'], bad: ['10.1.2', '::1', '010.1.2.3'] },
  ipv6: { good: ['::1', '2001:db8::1', '::ffff:1.2.3.4'], bad: ['10.1.2.3', ':::', 'fe80::1%eth0'] },
  cidr: { good: ['10.0.0.0/8', '2001:db8::/64'], bad: ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/08'] },
  mac: {
    good: ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab'],
    bad: ['01:23:45:67:89', '01:23-45:67:89:ab'],
  },
  uuid: { good: ['C56A4180-65AA-42EC-A945-5FD21DEC0538', 'c56a418065aa42eca9455fd21dec0538'], bad: ['c56a4180'] },
  uuid3: { good: ['bcd02e22-68f0-3046-a512-327cca9def8f'], bad: ['bcd02e22-68f0-4046-a512-327cca9def8f'] },
  uuid4: { good: ['025b0d74-00a2-4048-bf57-227c5111bb34'], bad: ['025b0d74-00a2-4048-cf57-227c5111bb34'] },
  uuid5: { good: ['886313e1-3b8a-5372-9b90-0c9aee199e5d'], bad: ['886313e1-3b8a-4372-9b90-0c9aee199e5d'] },
  isbn: { good: ['0321751043', '978-0321751041'], bad: ['0321751044', '978-0321751042'] },
  isbn10: { good: ['3836221195', '1-61729-085-X'.replace('X', '8')], bad: ['978-0321751041', '0321751044'] },
  isbn13: { good: ['978 3 8362 2119 1'], bad: ['0321751043'] },
  creditcard: { good: ['4012 8888-8888 1881'], bad: ['4012888888881882', '12'] },
  ssn: { good: ['111-11-1111', '111111111'], bad: ['111-11-111'] },
  hexcolor: { good: ['#FFF', 'c0ffee'], bad: ['#ffff', 'red'] },
  rgbcolor: { good: ['rgb(0, 12,255)'], bad: ['rgb(0,12,256)', 'rgb(1,2)'] },
  byte: { good: ['aGk=', 'aGkx'], bad: ['', '!', 'aGk', 'a==='] },
  password: { good: ['', 'anything'], bad: [] },
  date: { good: ['2024-02-29'], bad: ['2023-02-29', '2024-13-01', '24-01-01'] },
  duration: { good: ['5m', '1h30m', '-1.5s', '3 days', '2 Weeks', '22 ns'], bad: ['5 parsecs', '', 'm', '5'] },
  'date-time': {
    good: ['2024-02-29T12:00:00Z', '2024-01-01t00:00:00.5+01:00'],
    bad: ['2023-02-29T12:00:00Z', 'yesterday', '2024-01-01T24:00:00Z', '2024-01-01'],
  },
  'k8s-short-name': { good: ['a-1'], bad: ['A', 'a.b', '-a'] },
  'k8s-long-name': { good: ['a.b-c'], bad: ['A', 'a..b'] },
}

for (const [format, { good, bad }] of Object.entries(formats))
  test(`format ${format}`, () => {
    const check = formatCheck(format)
    assert.ok(check)
    for (const text of good) assert.ok(check(text), `${text} is valid`)
    for (const text of bad) assert.ok(!check(text), `${text} is invalid`)
  })

test('unknown formats, and formats of other types, are not checked', () => {
  for (const name of ['int32', 'int64', 'double', 'no-such-format', 'constructor', ''])
    assert.equal(formatCheck(name), undefined)
  const checked: readonly (readonly [type: string, format: string, is: boolean])[] = [
    ['string', 'email', true],
    ['', 'email', true],
    ['', 'int32', false],
    ['integer', 'int32', true],
    ['integer', 'uint32', false],
    ['integer', 'double', false],
    ['integer', 'email', false],
    ['number', 'float', true],
    ['number', 'constructor', false],
    ['array', 'cidr', false],
    ['constructor', 'name', false],
  ]
  for (const [type, format, is] of checked) assert.equal(isChecked(type, format), is, `${type} ${format}`)
})

test('checks of long texts take at most linear time', () => {
  const long = 'a'.repeat(200_000)
  for (const format of Object.keys(formats))
    for (const text of [
      long,
      '1'.repeat(200_000),
      `${'a.'.repeat(100_000)}!`,
      `${'1s'.repeat(100_000)}!`,
      `"${long}`,
      `${'a '.repeat(100_000)}<`,
    ])
      formatCheck(format)?.(text)
})
