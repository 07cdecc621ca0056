import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { LogFile, type LogFileOptions } from './log-file.ts'

function place(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 't8s-audit-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const open = (directory: string, options: Omit<LogFileOptions, 'path' | 'log'>): LogFile =>
  new LogFile({ ...options, path: join(directory, 'audit.log'), log: (line) => assert.fail(line) })

const line = `${'x'.repeat(400 * 1024)}\n`

test('a full file is rotated, and no line is lost', async (t) => {
  const directory = place(t)
  const file = open(directory, { maxSize: 1 })
  for (let i = 0; i < 7; i++) file.append(Buffer.from(`${i}${line}`))
  await file.close()
  const names = readdirSync(directory).sort()
  assert.equal(names.length, 4)
  assert.ok(names.slice(0, 3).every((name) => /^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/.test(name)))
  const kept = names.map((name) => readFileSync(join(directory, name), 'utf8')).join('')
  assert.equal(kept, Array.from({ length: 7 }, (_, i) => `${i}${line}`).join(''))
  assert.equal(statSync(join(directory, 'audit.log')).mode & 0o777, 0o600)
})

test('only the newest rotated files remain', async (t) => {
  const directory = place(t)
  const file = open(directory, { maxSize: 1, maxBackups: 2 })
  for (let i = 0; i < 11; i++) file.append(Buffer.from(`${i}${line}`))
  await file.close()
  const names = readdirSync(directory).sort()
  assert.deepEqual(
    names.map((name) => readFileSync(join(directory, name), 'utf8')[0]),
    ['6', '8', '1'],
  )
})

test('rotated files that are too old are deleted, other files remain', async (t) => {
  const directory = place(t)
  writeFileSync(join(directory, 'audit-2020-01-01T00-00-00.000.log'), 'old')
  writeFileSync(join(directory, 'audit-2020-01-01T00-00-00.001.log.gz'), 'old')
  writeFileSync(join(directory, 'other-2020-01-01T00-00-00.000.log'), 'not ours')
  const file = open(directory, { maxAge: 30 })
  await file.close()
  assert.deepEqual(readdirSync(directory).sort(), ['audit.log', 'other-2020-01-01T00-00-00.000.log'])
})

test('rotated files are compressed', async (t) => {
  const directory = place(t)
  const file = open(directory, { maxSize: 1, compress: true })
  for (let i = 0; i < 3; i++) file.append(Buffer.from(`${i}${line}`))
  await file.close()
  const [full = '', ...rest] = readdirSync(directory).sort()
  assert.deepEqual(rest, ['audit.log'])
  assert.match(full, /\.log\.gz$/)
  assert.equal(gunzipSync(readFileSync(join(directory, full))).toString(), `0${line}1${line}`)
})

test('an existing file is appended to', async (t) => {
  const directory = place(t)
  writeFileSync(join(directory, 'audit.log'), 'before\n')
  const file = open(directory, {})
  file.append(Buffer.from('after\n'))
  await file.close()
  assert.equal(readFileSync(join(directory, 'audit.log'), 'utf8'), 'before\nafter\n')
})

test('a device is never rotated', async (t) => {
  const directory = place(t)
  // A symlink, so that a bug cannot damage the device.
  symlinkSync('/dev/null', join(directory, 'audit.log'))
  const file = open(directory, { maxSize: 1, maxBackups: 1 })
  for (let i = 0; i < 7; i++) file.append(Buffer.from(line))
  await file.close()
  assert.deepEqual(readdirSync(directory), ['audit.log'])
})
