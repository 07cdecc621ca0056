import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LogCursor } from './log-cursor.ts'
import { criLine, type LogMessage } from './log-messages.ts'
import { readWrittenLog } from './written-log.ts'

/** An engine's log in which pieces of a line have one time, and the streams alternate. */
function messages(count: number): LogMessage[] {
  return Array.from({ length: count }, (_, i) => ({
    stream: i % 5 === 4 ? 'stderr' : 'stdout',
    at: `2026-11-27T14:10:01.${String(Math.floor(i / 3)).padStart(9, '0')}Z`,
    text: Buffer.from(`message ${i} ${'x'.repeat(i % 100)}`),
    isComplete: i % 3 === 2,
  }))
}

test('after a stop anywhere, each message is in the log once', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, '0.log')
  const all = messages(60)
  for (let written = 0; written <= all.length; written++) {
    writeFileSync(path, Buffer.concat(all.slice(0, written).map(criLine)))
    const complete = readWrittenLog(path).position?.size
    appendFileSync(path, 'half a li')
    const { marks, position } = readWrittenLog(path)
    assert.equal(position?.size, complete)
    const cursor = new LogCursor(marks)
    assert.deepEqual(
      all.filter((message) => cursor.accept(message)),
      all.slice(written),
      `stopped after ${written} messages`,
    )
  }
})

test('after a rotation, reading goes on where the file before has ended', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, '0.log')
  // Longer than the part that is read first.
  const all = messages(6_000)
  writeFileSync(path, Buffer.concat(all.slice(0, 5_990).map(criLine)))
  renameSync(path, `${path}.20261127-141001`)
  for (const text of [undefined, '']) {
    if (text !== undefined) writeFileSync(path, text)
    const cursor = new LogCursor(readWrittenLog(path).marks)
    assert.match(cursor.since ?? '', /^1795788601\.0000019\d\d$/)
    assert.deepEqual(
      all.filter((message) => cursor.accept(message)),
      all.slice(5_990),
    )
  }
})

test('a cursor that rewinds skips what it has accepted', () => {
  const cursor = new LogCursor()
  assert.equal(cursor.since, undefined)
  const all = messages(10)
  for (const message of all.slice(0, 7)) cursor.accept(message)
  cursor.rewind()
  assert.deepEqual(
    all.filter((message) => cursor.accept(message)),
    all.slice(7),
  )
})
