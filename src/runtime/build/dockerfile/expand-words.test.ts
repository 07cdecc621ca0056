// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of Dockerfiles.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandText, expandWord, splitWords, WordError } from './expand-words.ts'

const values: Readonly<Record<string, string>> = { a: '1', empty: '', path: '/x y' }
const variables = (name: string): string | undefined => (Object.hasOwn(values, name) ? values[name] : undefined)
const expand = (word: string, character = '\\'): string => expandWord(word, variables, character)

for (const [word, expected] of [
  ['$a', '1'],
  ['x${a}y', 'x1y'],
  ['$ab', ''],
  ['${b:-w}', 'w'],
  ['${b:-$a}', '1'],
  ['${b:-${b:-deep}}', 'deep'],
  ['${empty:-w}', 'w'],
  ['${empty-w}', ''],
  ['${a:+w}', 'w'],
  ['${empty:+w}', ''],
  ['${empty+w}', 'w'],
  ['${b+w}', ''],
  ['${a:?gone}', '1'],
  ['\\$a', '$a'],
  ["'$a'", '$a'],
  ['"$path"', '/x y'],
  ['"a\\"b"', 'a"b'],
  ['"a\\nb"', 'a\\nb'],
  ["it\\'s", "it's"],
  ['$', '$'],
  ['50%$', '50%$'],
] as const)
  test(`${word} expands to ${expected}`, () => assert.equal(expand(word), expected))

test('the character that escapes others can be a backquote', () => {
  assert.equal(expand('c:\\$a`$', '`'), 'c:\\1$')
})

for (const [word, message] of [
  ["'a", /quote is not closed/],
  ['"a', /quote is not closed/],
  ['${a', /is not supported/],
  ['${a:-b', /\} is missing/],
  ['${}', /has no name/],
  ['${a#b}', /use \$\{a\}, \$\{a:-x\} or \$\{a:\+x\}/],
  ['${b:?must be set}', /b: must be set/],
] as const)
  test(`${word} is rejected`, () =>
    assert.throws(
      () => expand(word),
      (error) => error instanceof WordError && message.test(error.message),
    ))

test('words are split outside of quotes', () => {
  assert.deepEqual(splitWords('a "b c"  d\\ e\'f g\'', '\\'), ['a', '"b c"', "d\\ e'f g'"])
})

test('quotes of texts remain', () => {
  assert.equal(expandText('echo "$a" \'$a\' \\n \\$a', variables, '\\'), 'echo "1" \'1\' \\n $a')
})
