import assert from 'node:assert/strict'
import { renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { allOf, Follower, LogFolder, line } from './testing/log-folder.fixture.ts'

const rotatedName = (second: number): string => `0.log.20260102-03040${second}`

test('a log is read to its end, with an unfinished last line', async (t) => {
  const log = new LogFolder(t)
  log.append(`${line('one')}${line('two', 'stderr')}${line('three').trimEnd()}`)
  assert.equal(await log.read(), 'one\ntwo\nthree\n')
  assert.equal(await log.read({ stream: 'Stderr' }), 'two\n')
})

test('the tail of a log is its last lines', async (t) => {
  const log = new LogFolder(t)
  const all = Array.from({ length: 20_000 }, (_, i) => `line ${i}`)
  log.append(all.map((text) => line(text)).join(''))
  for (const count of [0, 1, 5, 5_000, 19_999, 20_000, 30_000]) {
    const expected = count === 0 ? [] : all.slice(-count)
    assert.equal(await log.read({ tailLines: count }), expected.map((text) => `${text}\n`).join(''))
  }
})

test('the tail of a log goes back over rotated files', async (t) => {
  const log = new LogFolder(t)
  writeFileSync(join(log.folder, `${rotatedName(1)}.gz`), gzipSync(line('compressed')))
  log.append(line('a') + line('b'), rotatedName(2))
  log.append(line('c'), rotatedName(3))
  log.append(line('d'))
  assert.equal(await log.read({ tailLines: 1 }), 'd\n')
  assert.equal(await log.read({ tailLines: 3 }), 'b\nc\nd\n')
  assert.equal(await log.read({ tailLines: 9 }), 'a\nb\nc\nd\n')
  assert.equal(await log.read(), 'd\n')
})

test('partial lines are joined, each stream by itself', async (t) => {
  const log = new LogFolder(t)
  log.append(line('long ', 'stdout', 'P') + line('line', 'stdout', 'P') + line('!') + line('next'))
  assert.equal(await log.read(), 'long line!\nnext\n')
  const time = '2026-01-02T03:04:05.123456789Z'
  assert.equal(await log.read({ timestamps: true }), `${time} long line!\n${time} next\n`)
})

test('lines before a time are skipped', async (t) => {
  const log = new LogFolder(t)
  log.append('2026-01-01T00:00:00Z stdout F old\n2026-01-01T00:00:01.5+00:00 stdout F new\n')
  const sinceMs = Date.parse('2026-01-01T00:00:01Z')
  assert.equal(await log.read({ sinceMs }), 'new\n')
  assert.equal(await log.read({ sinceMs, timestamps: true }), '2026-01-01T00:00:01.500000000+00:00 new\n')
})

test('bad lines are reported and skipped, and not counted', async (t) => {
  const log = new LogFolder(t)
  log.append(`garbage\n${line('good')}2026-01-01 nothing F x\n${line('last')}`)
  assert.equal(await log.read(), 'good\nlast\n')
  assert.equal(log.reports.length, 2)
  assert.match(log.reports[0]!, /cannot parse a line of the log .*0\.log: "garbage"/)
})

test('a line without an end does not fill the memory', async (t) => {
  const log = new LogFolder(t)
  log.append(`${'x'.repeat(3 * 1024 * 1024)}\n${line('next')}`)
  assert.equal(await log.read(), 'next\n')
})

test("Docker's lines are read", async (t) => {
  const log = new LogFolder(t)
  for (const text of ['one\n', 'two ', 'parts\n'])
    log.append(`${JSON.stringify({ log: text, stream: 'stdout', time: '2026-01-01T00:00:00.1Z' })}\n`)
  assert.equal(await log.read(), 'one\ntwo parts\n')
})

test('a followed log goes on until the container has stopped', async (t) => {
  const log = new LogFolder(t)
  log.append(line('one') + line('two').slice(0, 10))
  const follower = new Follower(log.open({ follow: true, tailLines: 5 }))
  await follower.waitFor('one\n')
  log.append(line('two').slice(10))
  await follower.waitFor('one\ntwo\n')
  log.append(line('last').trimEnd())
  log.isRunning = false
  await follower.ended
  assert.equal(follower.text, 'one\ntwo\nlast\n')
})

test('a followed log loses no line at a rotation', async (t) => {
  const log = new LogFolder(t)
  log.append(line('one'))
  const follower = new Follower(log.open({ follow: true }))
  await follower.waitFor('one\n')
  renameSync(log.path, join(log.folder, rotatedName(1)))
  log.append(line('two'), rotatedName(1))
  await follower.waitFor('one\ntwo\n')
  log.append(line('four'))
  log.append(line('three'), rotatedName(1))
  await follower.waitFor('one\ntwo\nthree\nfour\n')
  log.isRunning = false
  await follower.ended
})

test('a slow reader gets all files that were rotated meanwhile', async (t) => {
  const log = new LogFolder(t)
  const texts = Array.from({ length: 5_000 }, (_, i) => `line ${i}`)
  log.append(texts.map((text) => line(text)).join(''))
  const reading = log.open({ follow: true })
  const first = (await reading.next()).value as Buffer
  renameSync(log.path, join(log.folder, rotatedName(1)))
  writeFileSync(join(log.folder, `${rotatedName(2)}.gz`), gzipSync(line('second')))
  log.append(line('third'), rotatedName(3))
  log.append(line('fourth'))
  log.isRunning = false
  const rest = await allOf(reading)
  const expected = [...texts, 'second', 'third', 'fourth'].map((text) => `${text}\n`).join('')
  assert.equal(Buffer.concat([first, ...rest]).toString(), expected)
})

test('a reader that leaves ends the wait', async (t) => {
  const log = new LogFolder(t)
  log.append(line('one'))
  const leaving = new AbortController()
  const follower = new Follower(log.open({ follow: true }, leaving.signal))
  await follower.waitFor('one\n')
  leaving.abort()
  await follower.ended
})

test('links and pipes cannot lead out of the folder of logs', async (t) => {
  const log = new LogFolder(t)
  symlinkSync('/etc/passwd', log.path)
  await assert.rejects(log.read(), /failed to open log file "\/etc\/passwd": not a log file/)
})

test('a link inside the folder of logs is followed', async (t) => {
  const log = new LogFolder(t)
  writeFileSync(join(log.root, 'real.log'), line('one'))
  symlinkSync(join(log.root, 'real.log'), log.path)
  assert.equal(await log.read(), 'one\n')
})

test('a log that is being rotated is awaited', async (t) => {
  const log = new LogFolder(t)
  const reading = log.read()
  log.append(line('new'))
  assert.equal(await reading, 'new\n')
})

test("a missing log is an error with upstream's message", async (t) => {
  const log = new LogFolder(t)
  log.isRunning = false
  await assert.rejects(log.read(), {
    message: `failed to try resolving symlinks in path "${log.path}": lstat ${log.path}: no such file or directory`,
  })
})
