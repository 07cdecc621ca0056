import assert from 'node:assert/strict'
import { test } from 'node:test'
import { criLine, logSplitter } from './log-messages.ts'

const at = (second: number): string => `2026-11-27T14:10:0${second}.123456789Z`

function linesOf(isTerminal: boolean, data: Buffer, size: number): string[] {
  const splitter = logSplitter(isTerminal)
  const messages = []
  for (let from = 0; from < data.length; from += size) messages.push(...splitter.add(data.subarray(from, from + size)))
  return [...messages, ...splitter.end()].map((message) => criLine(message).toString())
}

function frame(stream: number, text: string): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

test('messages of streams become lines, and incomplete ones parts of a line', () => {
  const data = Buffer.concat([
    frame(1, `${at(1)} hello world\n`),
    frame(2, `${at(2)} \n`),
    frame(1, `${at(3)} without an end`),
  ])
  for (const size of [1, 50, data.length])
    assert.deepEqual(linesOf(false, data, size), [
      `${at(1)} stdout F hello world\n`,
      `${at(2)} stderr F \n`,
      `${at(3)} stdout P without an end\n`,
    ])
})

test('the log of a terminal is split at line breaks, and long lines after 16 KiB', () => {
  const long = 'x'.repeat(16 * 1024)
  const data = Buffer.from(`${at(1)} one\r\n${at(2)} ${long}${at(2)} y\r\n${at(3)} \r\n${at(4)} ${long}\n${at(5)} $ `)
  for (const size of [7, 4096, data.length])
    assert.deepEqual(linesOf(true, data, size), [
      `${at(1)} stdout F one\n`,
      `${at(2)} stdout P ${long}\n`,
      `${at(2)} stdout F y\n`,
      `${at(3)} stdout F \n`,
      `${at(4)} stdout F ${long}\n`,
      `${at(5)} stdout P $ \n`,
    ])
})
