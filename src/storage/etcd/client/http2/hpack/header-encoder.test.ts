import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderDecoder } from './header-decoder.ts'
import { encodeHeaders } from './header-encoder.ts'

test('headers are encoded by the static table and as literals without an index', () => {
  const block = encodeHeaders([
    [':method', 'POST'],
    [':scheme', 'https'],
    [':path', '/a/B'],
    ['te', 'trailers'],
    ['user-agent', 't'],
  ])
  assert.equal(block.toString('hex'), '83870404' + '2f612f42' + '00027465' + '08747261696c657273' + '0f2b0174')
})

test('a long value is decoded again', () => {
  const value = '/'.repeat(10_000)
  const headers = new HeaderDecoder().decode(encodeHeaders([[':path', value]]))
  assert.equal(headers.get(':path'), value)
})
