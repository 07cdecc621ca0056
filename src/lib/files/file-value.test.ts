import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileValue } from './file-value.ts'

function watched(t: { after(action: () => void): void }) {
  const directory = mkdtempSync(join(tmpdir(), 'file-value-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'file')
  writeFileSync(path, '1')
  let at = 0
  const lines: string[] = []
  const read = () => {
    const text = readFileSync(path, 'utf8')
    if (text === 'bad') throw new Error('it is bad')
    return { text }
  }
  const value = fileValue({ paths: [path], read, log: (line) => lines.push(line), everyMs: 10, now: () => at })
  const laterValue = () => {
    at += 10
    return value()
  }
  return { path, value, laterValue, lines }
}

test('the value is the same object until the file changes', (t) => {
  const { path, value, laterValue } = watched(t)
  const first = value()
  assert.equal(laterValue(), first)
  writeFileSync(`${path}.new`, '22')
  renameSync(`${path}.new`, path)
  assert.equal(value(), first)
  assert.deepEqual(laterValue(), { text: '22' })
})

test('an unreadable file keeps the old value, is logged once, and is read again', (t) => {
  const { path, laterValue, lines } = watched(t)
  writeFileSync(path, 'bad')
  assert.equal(laterValue().text, '1')
  assert.equal(laterValue().text, '1')
  assert.deepEqual(lines, [`${path}: using the previous content: it is bad`])
  rmSync(path)
  assert.equal(laterValue().text, '1')
  writeFileSync(path, '333')
  assert.equal(laterValue().text, '333')
})
