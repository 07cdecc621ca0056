import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerError } from './answer-error.ts'

const message = (status: number, body = '', contentType?: string) => answerError(status, Buffer.from(body), contentType)
const onTheServer = (text: string) => `an error on the server (${text}) has prevented the request from succeeding`

test('the error contains the text of the response if it is text or untyped', () => {
  assert.equal(message(500, ' out of\norder\n'), onTheServer('"out of\\norder"'))
  assert.equal(message(502, '<html>', 'text/html; charset=utf-8'), onTheServer('"<html>"'))
  assert.equal(message(500, '{"error":"x"}', 'application/json'), onTheServer('"unknown"'))
  assert.equal(message(500), onTheServer('""'))
  assert.equal(message(403, 'no\n', 'text/plain'), 'no')
  assert.equal(message(403, '{}', 'application/json'), 'unknown')
  assert.equal(message(415, 'only JSON'), 'only JSON')
  assert.equal(message(406, 'only JSON'), 'only JSON')
  assert.equal(message(406), 'the server was unable to respond with a content type that the client supports')
})

test('statuses with a fixed message omit the text', () => {
  assert.equal(message(404, 'x'), 'the server could not find the requested resource')
  assert.equal(message(503, 'x'), 'the server is currently unable to handle the request')
  for (const status of [302, 410, 413, 418])
    assert.equal(
      message(status, 'x'),
      `the server responded with the status code ${status} but did not return more information`,
    )
})

test('the message of a Status is used', () => {
  assert.equal(message(500, '{"kind":"Status","message":"not today"}', 'application/json'), 'not today')
  const long = 'a'.repeat(3000)
  assert.equal(message(500, JSON.stringify({ kind: 'Status', message: long })), long)
})
