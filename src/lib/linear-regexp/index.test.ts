import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linearRegexp, RegexpSyntaxError } from './index.ts'

const matches: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
  ['^[a-z]+$', 'abc', true],
  ['^[a-z]+$', 'aBc', false],
  ['^[a-z]+$', 'abc\n', false],
  ['y$', 'xy', true],
  ['^x', 'yx', false],
  ['a{2,3}', 'ba', false],
  ['^a{2,3}$', 'aaaa', false],
  ['a{,2}', 'a{,2}', true],
  ['(?i)HeLLo', 'say hello', true],
  ['(?i)ä', 'Ä', true],
  ['(?i:a)b', 'AB', false],
  ['(?s).', '\n', true],
  ['.', '\n', false],
  ['(?m)^b$', 'a\nb\nc', true],
  ['\\bfoo\\b', 'a foo b', true],
  ['\\bfoo\\b', 'afoo', false],
  ['o\\B', 'of', true],
  ['^$', '', true],
  ['^(a|b)*c?$', 'ababc', true],
  ['[^a-c]', 'abc', false],
  ['^[]a]+$', 'a]', true],
  ['^[[:alpha:]_-]+$', 'a-_', true],
  ['^[[:^alpha:]]+$', '12', true],
  ['^\\p{Greek}\\pL$', 'αb', true],
  ['^\\P{Greek}$', 'α', false],
  ['^.{1,3}$', 'äöü', true],
  ['^.$', '😀', true],
  ['^\\s$', '\u00a0', false],
  ['^\\Qa.b\\E+$', 'a.bbb', true],
  ['^\\x41\\x{1F600}\\101\\n$', 'A😀A\n', true],
  ['(?P<year>\\d{4})', 'in 2024', true],
  ['(|a)*b', 'aab', true],
  ['(?<year>\\d{4})', 'in 2024', true],
  ['(?i)^\\w$', 'ſ', true],
  ['^(\\Qa.b\\E)?$', '', true],
  ['^a(?i)+$', 'aa', true],
]

for (const [pattern, text, expected] of matches)
  test(`/${pattern}/ ${expected ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () =>
    assert.equal(linearRegexp(pattern).test(text), expected))

const invalid: readonly (readonly [pattern: string, why: string])[] = [
  ['(', 'missing closing ): `(`'],
  [')', 'unexpected ): `)`'],
  ['[a', 'missing closing ]: `[a`'],
  ['*', 'missing argument to repetition operator: `*`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['(a{10}){200}', 'invalid repeat count: `{200}`'],
  ['\\', 'trailing backslash at end of expression: ``'],
  ['[\\', 'trailing backslash at end of expression: ``'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['\\p{Foo}', 'invalid character class range: `\\p{Foo}`'],
  ['\\x{110000}', 'invalid escape sequence: `\\x{110000`'],
  ['(?', 'invalid or unsupported Perl syntax: `(?`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['(?P<n', 'invalid named capture: `(?P<n`'],
]

for (const [pattern, why] of invalid)
  test(`/${pattern}/ is rejected with Go's message`, () =>
    assert.throws(() => linearRegexp(pattern), { message: `error parsing regexp: ${why}` }))

test('all expressions take linear time', () => {
  for (const pattern of ['(a+)+$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(a*)*c', '(.*)(.*)(.*)(.*)x$'])
    assert.equal(linearRegexp(pattern).test(`${'a'.repeat(100_000)}!`), false)
})

test('the text of an expression and its compiled form are limited', () => {
  for (const source of ['a'.repeat(100_001), '.{1000}'.repeat(30)])
    assert.throws(() => linearRegexp(source), new RegexpSyntaxError('expression too large', source))
  assert.equal(linearRegexp('.{1000}'.repeat(10)).test('a'.repeat(10_000)), true)
})

test('an expression that is used again is compiled once', () => {
  assert.equal(linearRegexp('^once$'), linearRegexp('^once$'))
})
