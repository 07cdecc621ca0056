import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '../../lib/log/log.ts'
import type { Request, Response } from '../http/exchange.ts'
import { RequestContext } from '../request-info/request-context.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { requestLog } from './request-log.ts'

const agent = 'kubectl/v1.36.2 (linux/amd64) kubernetes/6a34c8b'

interface Given {
  readonly path?: string
  readonly rawQuery?: string
  readonly user?: string
  readonly agent?: string
}

/** Answers one request, and returns its lines and a function that closes the connection. */
function answer(verbosity: number, given: Given, response: Response, ms = 12.34) {
  const lines: string[] = []
  const events: (LogEvent | undefined)[] = []
  let close = (): void => {}
  const { path = '/api/v1/pods', rawQuery = '' } = given
  const request = Object.assign(new RequestContext(), {
    method: 'GET',
    path,
    rawQuery,
    remoteAddress: '127.0.0.1',
    received: 1000,
    header: (name: string) => (name === 'user-agent' ? (given.agent ?? agent) : undefined),
    onClose: (callback: () => void) => (close = callback),
    info: requestInfo('GET', path, new URLSearchParams(rawQuery)),
    user: { name: given.user ?? 'jane' },
    auditId: 'id',
  }) as unknown as Request
  const filter = requestLog(
    verbosity,
    (line, _severity, event) => {
      lines.push(line)
      events.push(event)
    },
    () => 1000 + ms,
  )
  if (filter && typeof filter !== 'function') filter.answered?.(request, response)
  return { lines, events, close: () => close() }
}

const ok: Response = { status: 200, headers: {}, body: Buffer.from('{}') }

test('a line has status, verb, path, user agent and duration', () => {
  const { lines, events } = answer(1, { rawQuery: 'limit=500' }, ok)
  assert.deepEqual(lines, ['200 LIST /api/v1/pods?limit=500 kubectl/v1.36.2 12 ms'])
  assert.deepEqual(events[0], {
    message: 'HTTP',
    fields: {
      verb: 'LIST',
      URI: '/api/v1/pods?limit=500',
      latency: '12.340ms',
      userAgent: agent,
      'audit-ID': 'id',
      srcIP: '127.0.0.1',
      resp: 200,
    },
  })
})

test('a watch is logged at its end, with the number of events', () => {
  let sent = 1
  const watch: Response = { status: 200, headers: {}, body: () => {}, sentEvents: () => sent }
  const { lines, events, close } = answer(1, { rawQuery: 'watch=1' }, watch, 65_432)
  assert.deepEqual(lines, [])
  sent = 3
  close()
  assert.deepEqual(lines, ['200 WATCH /api/v1/pods?watch=1 kubectl/v1.36.2 65.4 s, 3 events'])
  assert.equal(events[0]?.fields.events, 3)
})

test('components are logged from level 3 on', () => {
  for (const [user, level] of [
    ['jane', 1],
    ['system:admin', 1],
    ['system:serviceaccount:shop:operator', 1],
    ['system:kube-scheduler', 3],
    ['system:node:node-1', 3],
    ['system:serviceaccount:kube-system:job-controller', 3],
  ] as const) {
    assert.equal(answer(level, { user }, ok).lines.length, 1, `${user} at ${level}`)
    assert.equal(answer(level - 1, { user }, ok).lines.length, 0, `${user} at ${level - 1}`)
  }
  assert.equal(answer(1, { user: 'system:anonymous', path: '/readyz' }, ok).lines.length, 0)
})

test('control characters of a client do not reach the terminal', () => {
  assert.deepEqual(answer(1, { agent: 'a\x1b]0;b\x9b' }, ok, 0.25).lines, ['200 LIST /api/v1/pods a?]0;b? 0.3 ms'])
})
