import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goQuote } from './go-quote.ts'

test('goQuote quotes as strconv.Quote', () => {
  assert.equal(goQuote('plain text'), '"plain text"')
  assert.equal(goQuote('a"b\\c'), '"a\\"b\\\\c"')
  assert.equal(goQuote('\x07\b\f\n\r\t\v\x00\x7f'), '"\\a\\b\\f\\n\\r\\t\\v\\x00\\x7f"')
  assert.equal(goQuote('é😀'), '"é😀"')
  assert.equal(goQuote('\u00a0\u200b\u{e0001}'), '"\\u00a0\\u200b\\U000e0001"')
  assert.equal(goQuote('\ud800'), '"\\ufffd"')
})
