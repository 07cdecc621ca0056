import assert from 'node:assert/strict'
import { test } from 'node:test'
import { regexpFinder } from './index.ts'

test('findAll returns leftmost matches with Perl preference', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['[0-9]+', 'abc 123 45', ['123', '45']],
    ['a|ab', 'ab', ['a']],
    ['ab|a', 'ab a', ['ab', 'a']],
    ['a*', 'baac', ['', 'aa', '']],
    ['a*?', 'aa', ['', '', '']],
    ['a+?b', 'aab', ['aab']],
    ['(?U)a+', 'aaa', ['a', 'a', 'a']],
    ['a{2,3}', 'aaaaa', ['aaa', 'aa']],
    ['a{2,3}?', 'aaaaa', ['aa', 'aa']],
    ['^a', 'aaa', ['a']],
    ['(?m)^a', 'aa\na', ['a', 'a']],
    ['a$', 'aaa', ['a']],
    ['\\bfoo\\b', 'foo food foo', ['foo', 'foo']],
    ['', 'ab', ['', '', '']],
    ['.', 'a😀é', ['a', '😀', 'é']],
    ['x', '', []],
    ['', '', ['']],
    ['[0-9]*', '123 abc 456', ['123', '', '', '', '', '456']],
  ]
  for (const [pattern, text, found] of cases)
    assert.deepEqual(regexpFinder(pattern).findAll(text), found, `${pattern} in ${text}`)
})

test('findAll respects the limit', () => {
  assert.deepEqual(regexpFinder('[0-9]').findAll('1 2 3', 2), ['1', '2'])
  assert.deepEqual(regexpFinder('[0-9]').findAll('1 2 3', 0), [])
})

test('random expressions find the same as in JavaScript', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * below)
  }
  const one = (depth: number): string => {
    const choice = random(depth > 0 ? 7 : 3)
    if (choice < 3) return 'abc'[choice] ?? 'a'
    if (choice === 3) return '[ab]'
    if (choice === 4) return `(?:${one(depth - 1)}|${one(depth - 1)}${one(depth - 1)})`
    return `${one(depth - 1)}${one(depth - 1)}`
  }
  const pattern = (): string =>
    Array.from(
      { length: 1 + random(3) },
      () => `(?:${one(2)})${['', '?', '+', '*', '+?', '*?', '??', '{1,2}'][random(8)]}`,
    ).join('')
  for (let i = 0; i < 500; i++) {
    const source = `x${pattern()}`
    const text = Array.from({ length: random(30) }, () => 'abcx'[random(4)]).join('')
    assert.deepEqual(
      regexpFinder(source).findAll(text),
      text.match(new RegExp(source, 'g')) ?? [],
      `${source} in ${text}`,
    )
  }
})

test('findAll throws TooMuchWork instead of taking quadratic time', () => {
  const text = 'a'.repeat(200_000)
  assert.throws(() => regexpFinder('a.*b|a').findAll(text), { name: 'TooMuchWork' })
  assert.deepEqual(regexpFinder('(a+)+$').findAll(`${text}!`), [])
})
