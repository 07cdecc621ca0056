import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions, parseSemanticVersion, parseTolerantVersion } from './semantic-version.ts'

test('versions are ordered as semver.org specifies', () => {
  const order = [
    '0.0.9',
    '1.0.0-1',
    '1.0.0-2',
    '1.0.0-10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.2.0',
    '10.0.0',
  ]
  for (const [i, a] of order.entries())
    for (const [j, b] of order.entries())
      assert.equal(compareVersions(parseSemanticVersion(a), parseSemanticVersion(b)), Math.sign(i - j), `${a} ${b}`)
  assert.equal(compareVersions(parseSemanticVersion('1.0.0+a'), parseSemanticVersion('1.0.0+b.c')), 0)
})

test('the error for an invalid version names the reason', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'Version string empty'],
    ['v1.0', 'No Major.Minor.Patch elements found'],
    ['v1.0.0', 'Invalid character(s) found in major number "v1"'],
    ['1.0.0 ', 'Invalid character(s) found in patch number "0 "'],
    ['01.0.0', 'Major number must not contain leading zeroes "01"'],
    ['1.00.0', 'Minor number must not contain leading zeroes "00"'],
    ['1..0', 'strconv.ParseUint: parsing "": invalid syntax'],
    ['1.0.18446744073709551616', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
    ['1.0.0-', 'Prerelease is empty'],
    ['1.0.0-01', 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ['1.0.0-a_b', 'Invalid character(s) found in prerelease "a_b"'],
    ['1.0.0+', 'Build meta data is empty'],
    ['1.0.0+a..b', 'Build meta data is empty'],
    ['1.0.0+a_b', 'Invalid character(s) found in build meta data "a_b"'],
  ]
  for (const [text, message] of cases)
    assert.throws(() => parseSemanticVersion(text), { name: 'SemanticVersionError', message }, text)
})

test('the tolerant parser completes versions', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['v1', '1.0.0'],
    ['1.2', '1.2.0'],
    ['01.01.01', '1.1.1'],
    ['v0.0.00-rc.1', '0.0.0-rc.1'],
    ['1.2.3+b', '1.2.3+b'],
  ]
  for (const [text, same] of cases) assert.deepEqual(parseTolerantVersion(text), parseSemanticVersion(same), text)
  for (const text of ['', ' 1.0.0', '1. 0.0', '1.0.0 ', '1-rc', 'vv1'])
    assert.throws(() => parseTolerantVersion(text), { name: 'SemanticVersionError' }, text)
})
