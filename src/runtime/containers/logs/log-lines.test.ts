import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogLines } from './log-lines.ts'

const at = '2026-11-27T00:00:00.000000000Z'

test('an incomplete line waits for its end, and is a part of a line at the end of the output', () => {
  const lines = new LogLines('stdout', false)
  assert.equal(`${lines.add(Buffer.from('one\ntw'), at)}`, `${at} stdout F one\n`)
  assert.equal(`${lines.rest}`, 'tw')
  assert.equal(`${lines.add(Buffer.from('o\nend'), at)}`, `${at} stdout F two\n`)
  assert.equal(`${lines.end(at)}`, `${at} stdout P end\n`)
  assert.equal(`${lines.end(at)}`, '')
})

test('a long line is written in parts', () => {
  const lines = new LogLines('stderr', false)
  const [first, second] = `${lines.add(Buffer.from(`${'x'.repeat(16_385)}\n`), at)}`.split('\n')
  assert.equal(first, `${at} stderr P ${'x'.repeat(16_384)}`)
  assert.equal(second, `${at} stderr F x`)
})
