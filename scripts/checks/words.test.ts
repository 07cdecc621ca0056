import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordFaults } from './words.ts'

test('words of comments and titles are checked, code and strings are not', () => {
  assert.deepEqual(wordFaults('a.ts', "const told = 'tell'\n"), [])
  assert.match(wordFaults('a.ts', '/** Tells the log. */\n')[0] ?? '', /^1: "Tells": write notify/)
  assert.match(wordFaults('a.ts', '\n// Kept, unless said otherwise.\n')[0] ?? '', /^2: "unless said"/)
  assert.match(wordFaults('a.ts', "test('a list is made anew', () => {})\n")[0] ?? '', /"anew"/)
  assert.match(wordFaults('a.md', 'Whoever asks\n')[0] ?? '', /"Whoever"/)
})

test('the output of programs in pages keeps its words', () => {
  const page = '```console\n$ tcpdump\nwho-has x tell y\n```\n'
  assert.deepEqual(wordFaults('a.md', page), [])
  assert.match(wordFaults('a.md', `${page}It tells.\n`)[0] ?? '', /^5: "tells"/)
})

test('a comment does not begin with a clause in place of a noun', () => {
  assert.match(wordFaults('a.ts', '/** Whether it runs. */\n')[0] ?? '', /begin with a noun or a verb/)

  assert.deepEqual(wordFaults('a.ts', '// The server decides\n// Who may write\n'), [])
})

test('a line of code has at most 120 columns', () => {
  assert.deepEqual(wordFaults('a.ts', 'x'.repeat(120)), [])
  assert.deepEqual(wordFaults('a.ts', 'x'.repeat(121)), ['1: 121 columns, at most 120'])
})
