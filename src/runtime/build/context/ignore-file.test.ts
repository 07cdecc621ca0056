import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IgnoreRules } from './ignore-file.ts'

/** Rules, a path, and true if it is left out. */
const cases: readonly (readonly [rules: string, path: string, isIgnored: boolean])[] = [
  ['a', 'a', true],
  ['a', 'a/b', true],
  ['a', 'b/a', false],
  ['/a/', 'a/b/c', true],
  ['./a', 'a', true],
  ['*/a', 'b/a', true],
  ['*/a', 'a', false],
  ['**/a', 'a', true],
  ['**/a', 'b/c/a', true],
  ['**/*.md', 'b/c.md', true],
  ['a/**', 'a/b', true],
  ['a/**', 'a', false],
  ['*.md', 'README.md', true],
  ['*.md', 'docs/README.md', false],
  ['*.md\n!README.md', 'README.md', false],
  ['!README.md\n*.md', 'README.md', true],
  ['a\n!a/b', 'a/b/c', false],
  ['a\n!a/b', 'a/c', true],
  ['# a\n\n  b  ', 'b', true],
  ['#a', '#a', false],
  ['[a-c]?', 'bx', true],
  ['[^a-c]?', 'bx', false],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['a.b', 'axb', false],
]

for (const [rules, path, isIgnored] of cases)
  test(`${JSON.stringify(rules)} ${isIgnored ? 'leaves out' : 'does not leave out'} ${path}`, () =>
    assert.equal(new IgnoreRules(rules, '.dockerignore').ignores(path), isIgnored))

test('a pattern that is not valid is rejected with its line', () => {
  assert.throws(() => new IgnoreRules('a\n[b', '.dockerignore'), /\.dockerignore:2: "\[b" has a \[ without a \]/)
})
