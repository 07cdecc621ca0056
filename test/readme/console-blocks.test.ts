import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleCommands, matches } from './console-blocks.ts'

test('commands of console blocks have their here-document and their output', () => {
  const markdown = "x\n```console\n$ a <<'EOF'\n$ text\nEOF\none\n\ntwo\n$ b\n```\n```ts\n$ c\n```\n"
  assert.deepEqual(consoleCommands(markdown), [
    { command: "a <<'EOF'\n$ text\nEOF", output: ['one', '', 'two'], line: 3 },
    { command: 'b', output: [], line: 9 },
  ])
})

test('an output matches despite other ages, column widths and omitted parts', () => {
  assert.ok(matches(['NAME   AGE', 'web    2s'], ['NAME    AGE', 'web     13s', '']))
  assert.ok(matches(['saved to …/backup'], ['saved to /tmp/backup']))
  assert.ok(matches(['…', 'last'], ['first', 'second', 'last']))
  assert.ok(matches([], ['']))
  assert.ok(!matches(['web'], ['web', 'another']))
  assert.ok(!matches(['web'], []))
  assert.ok(!matches(['a.c'], ['abc']))
})
