import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Payload } from '../content/payload.ts'
import { needsRoot, temporaryFolder } from '../volumes.fixture.ts'
import { writeAtomically } from './atomic-writer.ts'

const payload = (files: Record<string, string>, mode = 0o644): Payload =>
  new Map(Object.entries(files).map(([path, text]) => [path, { data: Buffer.from(text), mode }]))

const now = Date.UTC(2026, 0, 31, 12, 30, 5)

test('files are read through ..data, which names a folder with a timestamp', async (t) => {
  const folder = temporaryFolder(t)
  assert.equal(await writeAtomically(folder, payload({ a: '1', 'dir/b': '2', 'dir/c': '3' }), { now }), true)
  const version = readlinkSync(join(folder, '..data'))
  assert.match(version, /^\.\.2026_01_31_12_30_05\.\d+$/)
  assert.deepEqual(readdirSync(folder).sort(), [version, '..data', 'a', 'dir'].sort())
  assert.equal(readlinkSync(join(folder, 'a')), '..data/a')
  assert.equal(readlinkSync(join(folder, 'dir')), '..data/dir')
  assert.equal(readFileSync(join(folder, 'dir/c'), 'utf8'), '3')
  assert.equal(statSync(join(folder, version)).mode & 0o777, 0o755)
})

test('modes are exact', async (t) => {
  const folder = temporaryFolder(t)
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  await writeAtomically(folder, payload({ a: '1' }, 0o666))
  assert.equal(statSync(join(folder, 'a')).mode & 0o777, 0o666)
})

test('the owner of a file is set', { skip: needsRoot }, async (t) => {
  const folder = temporaryFolder(t)
  await writeAtomically(folder, new Map([['token', { data: Buffer.from('x'), mode: 0o600, owner: 1234 }]]))
  const { uid, gid, mode } = statSync(join(folder, 'token'))
  assert.deepEqual([uid, gid, mode & 0o777], [1234, process.getgid?.(), 0o600])
})

test('unchanged content is not written', async (t) => {
  const folder = temporaryFolder(t)
  await writeAtomically(folder, payload({ a: '1', 'dir/b': '2' }))
  const version = readlinkSync(join(folder, '..data'))
  assert.equal(await writeAtomically(folder, payload({ 'dir/b': '2', a: '1' })), false)
  assert.equal(readlinkSync(join(folder, '..data')), version)
})

test('an update replaces the version and removes what is not there any more', async (t) => {
  const folder = temporaryFolder(t)
  await writeAtomically(folder, payload({ a: '1', b: '2', 'dir/c': '3', 'dir/d': '4' }))
  const before = readlinkSync(join(folder, '..data'))
  assert.equal(await writeAtomically(folder, payload({ a: '1', 'dir/d': '5', e: '6' })), true)
  const version = readlinkSync(join(folder, '..data'))
  assert.notEqual(version, before)
  assert.deepEqual(readdirSync(folder).sort(), [version, '..data', 'a', 'dir', 'e'].sort())
  assert.deepEqual(readdirSync(join(folder, 'dir')), ['d'])
  assert.equal(readFileSync(join(folder, 'dir/d'), 'utf8'), '5')
})

test('a name changes between a file and a folder', async (t) => {
  const folder = temporaryFolder(t)
  await writeAtomically(folder, payload({ a: '1' }))
  await writeAtomically(folder, payload({ 'a/b': '2' }))
  assert.equal(readFileSync(join(folder, 'a/b'), 'utf8'), '2')
  await writeAtomically(folder, payload({ a: '3' }))
  assert.equal(readFileSync(join(folder, 'a'), 'utf8'), '3')
})

test('readers see all old or all new content', async (t) => {
  const folder = temporaryFolder(t)
  const values = Array.from({ length: 20 }, (_, i) => String(i))
  await writeAtomically(folder, payload({ a: '0', b: '0' }))
  let isRunning = true
  const reader = (async () => {
    for (let reads = 0; isRunning || reads < 10; reads++) {
      // A reader opens the folder of one version, as `cd ..data` does.
      const version = readlinkSync(join(folder, '..data'))
      const read = (name: string) =>
        existsSync(join(folder, version, name)) && readFileSync(join(folder, version, name), 'utf8')
      assert.equal(read('a'), read('b'))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  for (const value of values) await writeAtomically(folder, payload({ a: value, b: value }))
  isRunning = false
  await reader
})

test('an interrupted write is completed and its remains are removed', async (t) => {
  const folder = temporaryFolder(t)
  await writeAtomically(folder, payload({ a: '1' }))
  mkdirSync(join(folder, '..2026_01_31_12_30_05.1'))
  writeFileSync(join(folder, '..2026_01_31_12_30_05.1/a'), 'half')
  symlinkSync('..2026_01_31_12_30_05.1', join(folder, '..data_tmp'))
  await writeAtomically(folder, payload({ a: '2' }))
  const version = readlinkSync(join(folder, '..data'))
  assert.deepEqual(readdirSync(folder).sort(), [version, '..data', 'a'].sort())
  assert.equal(readFileSync(join(folder, 'a'), 'utf8'), '2')
})

test('missing names of a current version are linked', async (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, '..2026_01_31_12_30_05.1'))
  writeFileSync(join(folder, '..2026_01_31_12_30_05.1/a'), '1')
  symlinkSync('..2026_01_31_12_30_05.1', join(folder, '..data'))
  assert.equal(await writeAtomically(folder, payload({ a: '1' })), false)
  assert.equal(readFileSync(join(folder, 'a'), 'utf8'), '1')
})

test('a version that cannot be prepared is never visible', async (t) => {
  const folder = temporaryFolder(t)
  await writeAtomically(folder, payload({ a: '1' }))
  const prepare = async (version: string) => {
    assert.equal(readFileSync(join(version, 'a'), 'utf8'), '2')
    assert.equal(readFileSync(join(folder, 'a'), 'utf8'), '1')
    throw new Error('no')
  }
  await assert.rejects(writeAtomically(folder, payload({ a: '2' }), { prepare }), /no/)
  assert.equal(readFileSync(join(folder, 'a'), 'utf8'), '1')
  assert.equal(readdirSync(folder).length, 3)
})

test('mount points of other volumes stay', async (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'nested'))
  await writeAtomically(folder, payload({ a: '1' }))
  await writeAtomically(folder, payload({ b: '1' }))
  assert.ok(lstatSync(join(folder, 'nested')).isDirectory())
  assert.equal(existsSync(join(folder, 'a')), false)
})

test('an empty payload makes an empty volume', async (t) => {
  const folder = temporaryFolder(t)
  await writeAtomically(folder, payload({}))
  assert.equal(readdirSync(join(folder, '..data')).length, 0)
  assert.equal(await writeAtomically(folder, payload({})), false)
})
