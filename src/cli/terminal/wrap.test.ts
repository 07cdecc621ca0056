import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wrapped } from './wrap.ts'

test('a line that fits stays, and a longer one is broken between words', () => {
  assert.equal(wrapped('one two three', 13), 'one two three')
  assert.equal(wrapped('one two three', 12), 'one two\n  three')
  assert.equal(wrapped('  a bb ccc dddd', 9), '  a bb\n    ccc\n    dddd')
})

test('a word is never broken', () => {
  assert.equal(wrapped('data in /home/me/typernetes', 10), 'data in\n  /home/me/typernetes')
  assert.equal(wrapped('/home/me/typernetes', 10), '/home/me/typernetes')
})
