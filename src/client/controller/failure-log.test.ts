import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden, notFound, StatusError } from '../../machinery/status-error.ts'
import { ConnectionLost } from '../connection/connection-lost.ts'
import { FailureLog } from './failure-log.ts'

const pods = { group: '', name: 'pods' }

function noting() {
  const lines: string[] = []
  let now = 0
  const log = new FailureLog(
    (line) => lines.push(line),
    () => now,
  )
  return { lines, log, pass: (ms: number) => void (now += ms) }
}

test('what happens every day is not logged: conflicts, objects that have gone, quotas', () => {
  const { lines, log } = noting()
  log.failed('a/b', new StatusError(409, 'Conflict', 'no'), 0)
  log.failed('a/b', notFound(pods, 'p'), 0)
  log.failed('a/b', forbidden(pods, 'p', 'exceeded quota: q'), 3)
  assert.deepEqual(lines, [])
})

test('what roles do not allow, and what was not foreseen, is logged once a minute for each key', () => {
  const { lines, log, pass } = noting()
  const refused = forbidden(pods, '', 'User "u" cannot create resource "pods" in API group "" in the namespace "a"')
  log.failed('a/b', refused, 0)
  log.failed('a/b', refused, 1)
  log.failed('a/c', new TypeError('x is undefined'), 0)
  assert.equal(lines.length, 2)
  pass(60_000)
  log.failed('a/b', refused, 2)
  assert.equal(lines.length, 3)
  assert.equal(lines[1], 'a/c: x is undefined')
})

test('an object that stays away and a kind that is not served are logged; a server that is away is told once for all', () => {
  const { lines, log } = noting()
  log.failed('a', notFound(pods, 'p'), 5)
  log.failed('b', new StatusError(404, 'NotFound', 'the server could not find the requested resource', {}), 0)
  assert.equal(lines.length, 2)
  for (const key of ['c', 'd']) log.failed(key, new ConnectionLost('GET /: gone', true), 0)
  assert.equal(lines.length, 3)
})
