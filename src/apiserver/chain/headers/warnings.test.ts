import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warningValues } from './warnings.ts'

const utf8 = (values: readonly string[]) => values.map((value) => Buffer.from(value, 'latin1').toString())

for (const [what, given, expected] of [
  ['none', [], []],
  ['an empty text', [''], []],
  ['one', ['mytext'], ['299 - "mytext"']],
  ['a text twice', ['mytext', 'mytext'], ['299 - "mytext"']],
  ['several, in their order', ['mytext2', 'mytext1'], ['299 - "mytext2"', '299 - "mytext1"']],
  ['a text with control characters', ['my\ntext', 'my\u0085text', 'ok'], ['299 - "ok"']],
  ['quotes and backslashes', ['a "b" \\'], ['299 - "a \\"b\\" \\\\"']],
  ['text other than ASCII', ['Iñtërnâtiô 😀'], ['299 - "Iñtërnâtiô 😀"']],
] as const)
  test(`warnings: ${what}`, () => {
    assert.deepEqual(utf8(warningValues(given)), expected)
  })

test('warnings are truncated only if all together are too long', () => {
  const bounds = { all: 25, each: 5 }
  const few = ['aaaaaaaaaa', 'aaaaaaaaaa', 'bb', 'ccc', 'Iñtërnâtiô']
  assert.deepEqual(utf8(warningValues(few, bounds)), [
    '299 - "aaaaaaaaaa"',
    '299 - "bb"',
    '299 - "ccc"',
    '299 - "Iñtërnâtiô"',
  ])
  const many = [...few, 'e', 'ffffffffff', 'ffffffffff', 'gggggggggg', 'h']
  const cut = [
    '299 - "aaaaa"',
    '299 - "bb"',
    '299 - "ccc"',
    '299 - "Iñtër"',
    '299 - "e"',
    '299 - "fffff"',
    '299 - "ggggg"',
  ]
  assert.deepEqual(utf8(warningValues(many, bounds)), cut)
})

test('the text that exceeds the limit is still sent', () => {
  const bounds = { all: 4, each: 2 }
  assert.deepEqual(warningValues(['aa', 'bb', 'cc', 'dd'], bounds), ['299 - "aa"', '299 - "bb"', '299 - "cc"'])
})
