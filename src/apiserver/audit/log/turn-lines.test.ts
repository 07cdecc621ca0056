import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Request } from '../../http/exchange.ts'
import { requestInfo } from '../../request-info/request-info.ts'
import { AuditEvent } from '../event/audit-event.ts'
import type { Stage } from '../policy/policy.ts'
import { eventStart, TurnLines } from './turn-lines.ts'

const config = {
  level: 'Metadata',
  omitted: new Set<Stage>(),
  omitManagedFields: false,
  includesRequest: false,
  includesResponse: false,
} as const

function eventOf(path: string): AuditEvent {
  const query = new URLSearchParams()
  const request = {
    method: 'GET',
    path,
    rawQuery: '',
    query,
    received: 0,
    info: requestInfo('GET', path, query),
    remoteAddress: '127.0.0.1',
    header: () => undefined,
  }
  return new AuditEvent(request as unknown as Request, config, 'one')
}

/** Records each write: its text and its number of events. */
function gathering() {
  const written: { readonly text: string; readonly events: number }[] = []
  const lines = new TurnLines((bytes, events) => {
    written.push({ text: Buffer.from(bytes).toString(), events })
    return true
  })
  return { lines, written, all: () => written.map(({ text }) => text).join('') }
}

const lineOf = (event: AuditEvent, stage: Stage): string => `${eventStart}${event.members(stage, undefined)}\n`

test('the lines of a turn are written together and in order', async () => {
  const { lines, written } = gathering()
  const [a, b] = [eventOf('/api/v1/namespaces/x/pods/a'), eventOf('/version')]
  const told: [AuditEvent, Stage][] = [
    [a, 'RequestReceived'],
    [a, 'ResponseComplete'],
    [b, 'RequestReceived'],
    [a, 'ResponseComplete'],
  ]
  for (const [event, stage] of told) lines.addEvent({ event, stage, ms: undefined })
  assert.deepEqual(written, [])
  await new Promise(setImmediate)
  assert.deepEqual(written, [{ text: told.map(([event, stage]) => lineOf(event, stage)).join(''), events: 4 }])
})

test('a stage includes what the request body added since the last stage', () => {
  const { lines, all } = gathering()
  const event = eventOf('/api/v1/namespaces/x/pods')
  lines.addEvent({ event, stage: 'RequestReceived', ms: undefined })
  const before = lineOf(event, 'RequestReceived')
  event.recordObject({ metadata: { name: 'made-up' } })
  lines.addEvent({ event, stage: 'ResponseComplete', ms: undefined })
  lines.flush()
  assert.equal(all(), before + lineOf(event, 'ResponseComplete'))
  assert.match(all(), /"name":"made-up"/)
})

test('a line longer than the buffer is written whole and in order', () => {
  const { lines, written, all } = gathering()
  const long = eventOf(`/${'ü'.repeat(300_000)}`)
  const short = eventOf('/version')
  let expected = ''
  for (let i = 0; i < 1500; i++) {
    const event = i % 700 === 650 ? long : short
    for (const stage of ['RequestReceived', 'ResponseComplete'] as const) {
      lines.addEvent({ event, stage, ms: undefined })
      expected += lineOf(event, stage)
    }
  }
  lines.flush()
  assert.equal(all(), expected)
  assert.equal(
    written.reduce((sum, { events }) => sum + events, 0),
    3000,
  )
  assert.ok(written.every(({ text }) => text.endsWith('\n')))
})
