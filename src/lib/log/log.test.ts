import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formattedLog, jsonLine, textLine } from './log.ts'

const at = new Date(2026, 7, 16, 5, 14, 24, 570).getTime() + 0.339

test('a text line has the header of klog', () => {
  const entry = {
    message: 'Skipping API storage.k8s.io/v1alpha1 because it has no resources.',
    severity: 'warning',
    at,
    place: 'server.go:319',
  } as const
  assert.equal(
    textLine(entry, 1),
    'W0816 05:14:24.570339       1 server.go:319] Skipping API storage.k8s.io/v1alpha1 because it has no resources.',
  )
  assert.equal(
    textLine({ ...entry, message: 'm', severity: 'error' }, 12345678),
    'E0816 05:14:24.570339 12345678 server.go:319] m',
  )
  assert.equal(
    textLine({ ...entry, message: 'm', severity: 'info', at: new Date(2026, 0, 2, 23, 0, 0, 0).getTime() }, 77),
    'I0102 23:00:00.000000      77 server.go:319] m',
  )
})

test('a JSON line has the format of component-base', () => {
  assert.deepEqual(
    JSON.parse(jsonLine({ message: 'a "b"\nc', severity: 'info', at: 1580306777043.567, place: 'a.go:7' })),
    {
      ts: 1580306777043.567,
      caller: 'a.go:7',
      msg: 'a "b"\nc',
      v: 0,
    },
  )
  assert.equal('v' in JSON.parse(jsonLine({ message: 'm', severity: 'error', at: 1, place: 'a.go:7' })), false)
})

test('structured messages have their values in both formats', () => {
  const fields = { verb: 'GET', URI: '/a?b="c"', resp: 200 }
  const entry = { message: 'HTTP', severity: 'info', at, place: 'a.go:7', fields } as const
  assert.match(textLine(entry, 1), /\] "HTTP" verb="GET" URI="\/a\?b=\\"c\\"" resp=200$/)
  const { verb, resp, msg } = JSON.parse(jsonLine(entry)) as Record<string, unknown>
  assert.deepEqual({ verb, resp, msg }, { verb: 'GET', resp: 200, msg: 'HTTP' })
})

test('a line contains the location of the call', () => {
  const lines: string[] = []
  const log = formattedLog('text', (text) => lines.push(text))
  const limit = Error.stackTraceLimit
  log('from a function')
  const callback = (): void => log('from a callback', 'error')
  callback()
  assert.equal(Error.stackTraceLimit, limit)
  assert.match(lines[0]!, /^I\d{4} \d\d:\d\d:\d\d\.\d{6} [ \d]{7} log\.test\.ts:\d+\] from a function\n$/)
  assert.match(lines[1]!, /^E\d{4} .* log\.test\.ts:\d+\] from a callback\n$/)
})
