import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden, notFound, StatusError } from '../../machinery/status-error.ts'
import { ConnectionLost } from '../connection/connection-lost.ts'
import { FailureLog } from './failure-log.ts'

const pods = { group: '', name: 'pods' }

function recording() {
  const lines: string[] = []
  let now = 0
  const log = new FailureLog(
    (line) => lines.push(line),
    () => now,
  )
  return { lines, log, pass: (ms: number) => void (now += ms) }
}

test('expected failures are not logged: conflicts, deleted objects, quotas', () => {
  const { lines, log } = recording()
  log.record('a/b', new StatusError(409, 'Conflict', 'no'), 0)
  log.record('a/b', notFound(pods, 'p'), 0)
  log.record('a/b', forbidden(pods, 'p', 'exceeded quota: q'), 3)
  assert.deepEqual(lines, [])
})

test('missing permissions and unexpected errors are logged once a minute per key', () => {
  const { lines, log, pass } = recording()
  const refused = forbidden(pods, '', 'User "u" cannot create resource "pods" in API group "" in the namespace "a"')
  log.record('a/b', refused, 0)
  log.record('a/b', refused, 1)
  log.record('a/c', new TypeError('x is undefined'), 0)
  assert.equal(lines.length, 2)
  pass(60_000)
  log.record('a/b', refused, 2)
  assert.equal(lines.length, 3)
  assert.equal(lines[1], 'a/c: x is undefined')
})

test('missing objects and unserved kinds are logged per key, an unreachable server once for all keys', () => {
  const { lines, log } = recording()
  log.record('a', notFound(pods, 'p'), 5)
  log.record('b', new StatusError(404, 'NotFound', 'the server could not find the requested resource', {}), 0)
  assert.equal(lines.length, 2)
  for (const key of ['c', 'd']) log.record(key, new ConnectionLost('GET /: gone', true), 0)
  assert.equal(lines.length, 3)
})
