import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminalLog } from './terminal-log.ts'

const request = (resp: number) => ({ message: 'HTTP', fields: { resp } })

/** Logs a line for each status, and returns the output. */
function output(isTTY: boolean, ...statuses: readonly number[]): string {
  let text = ''
  const log = terminalLog({ isTTY, write: (line: string) => (text += line) }, 1)
  for (const status of statuses) log(`${status} GET /`, 'info', request(status))
  return text
}

test('a status has its colour on a terminal', () => {
  assert.equal(
    output(true, 200, 101, 304, 404, 503),
    '\x1b[32m200\x1b[39m GET /\n\x1b[36m101\x1b[39m GET /\n\x1b[36m304\x1b[39m GET /\n\x1b[33m404\x1b[39m GET /\n' +
      '\x1b[31m503\x1b[39m GET /\n',
  )
})

test('other outputs have no colours, and other lines neither', () => {
  assert.equal(output(false, 200, 404), '200 GET /\n404 GET /\n')
  let text = ''
  terminalLog({ isTTY: true, write: (line: string) => (text += line) }, 1)('200 pods')
  assert.equal(text, '200 pods\n')
})

test('a terminal breaks lines between words, other outputs do not', () => {
  let text = ''
  const write = (line: string) => (text += line)
  terminalLog({ isTTY: true, columns: 22, write })('stopping after SIGTERM: bye')
  terminalLog({ columns: 20, write })('stopping after SIGTERM: bye')
  assert.equal(text, 'stopping after\n  SIGTERM: bye\nstopping after SIGTERM: bye\n')
})
