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
  const later = () => {
    at += 10
    return value()
  }
  return { path, value, later, lines }
}

test('the value stays the same object until the file is another', (t) => {
  const { path, value, later } = watched(t)
  const first = value()
  assert.equal(later(), first)
  writeFileSync(`${path}.new`, '22')
  renameSync(`${path}.new`, path)
  assert.equal(value(), first)
  assert.deepEqual(later(), { text: '22' })
})

test('a file that cannot be read leaves the old value, is told once, and is tried again', (t) => {
  const { path, later, lines } = watched(t)
  writeFileSync(path, 'bad')
  assert.equal(later().text, '1')
  assert.equal(later().text, '1')
  assert.deepEqual(lines, [`${path}: what was read before stays: it is bad`])
  rmSync(path)
  assert.equal(later().text, '1')
  writeFileSync(path, '333')
  assert.equal(later().text, '333')
})
