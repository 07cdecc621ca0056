import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerError } from './answer-error.ts'

const told = (status: number, body = '', contentType?: string) => answerError(status, Buffer.from(body), contentType)
const onTheServer = (text: string) => `an error on the server (${text}) has prevented the request from succeeding`

test('a failure is told with its text, if it says that it is one, or nothing', () => {
  assert.equal(told(500, ' out of\norder\n'), onTheServer('"out of\\norder"'))
  assert.equal(told(502, '<html>', 'text/html; charset=utf-8'), onTheServer('"<html>"'))
  assert.equal(told(500, '{"error":"x"}', 'application/json'), onTheServer('"unknown"'))
  assert.equal(told(500), onTheServer('""'))
  assert.equal(told(403, 'no\n', 'text/plain'), 'no')
  assert.equal(told(403, '{}', 'application/json'), 'unknown')
  assert.equal(told(415, 'only JSON'), 'only JSON')
  assert.equal(told(406, 'only JSON'), 'only JSON')
  assert.equal(told(406), 'the server was unable to respond with a content type that the client supports')
})

test('what a status means by itself is told without the text', () => {
  assert.equal(told(404, 'x'), 'the server could not find the requested resource')
  assert.equal(told(503, 'x'), 'the server is currently unable to handle the request')
  for (const status of [302, 410, 413, 418])
    assert.equal(
      told(status, 'x'),
      `the server responded with the status code ${status} but did not return more information`,
    )
})

test('a Status is told in its own words', () => {
  assert.equal(told(500, '{"kind":"Status","message":"not today"}', 'application/json'), 'not today')
  const long = 'a'.repeat(3000)
  assert.equal(told(500, JSON.stringify({ kind: 'Status', message: long })), long)
})
