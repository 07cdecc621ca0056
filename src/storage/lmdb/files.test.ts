import assert from 'node:assert/strict'
import { existsSync, openSync, readdirSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { open } from 'lmdb'
import { StoreOpenError } from '../store.ts'
import { openLmdbStore } from './index.ts'

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 't8s-files-'))
  t.after(() => rm(directory, { recursive: true }))
  return { directory, file: join(directory, 'store.mdb') }
}

async function filledStore(t: TestContext) {
  const made = await folder(t)
  const store = await openLmdbStore(made)
  for (let i = 0; i < 200; i++) await store.commit({ conditions: [], operations: [{ key: `/k/${i}`, value: Buffer.alloc(3_000, i) }] })
  await store.close()
  return made
}

/** Opening is refused with a sentence that names the file, and changes nothing. */
async function refused(directory: string, message: RegExp) {
  const file = join(directory, 'store.mdb')
  const before = readFileSync(file)
  const names = readdirSync(directory)
  await assert.rejects(openLmdbStore({ directory }), (error) => {
    assert.ok(error instanceof StoreOpenError, `${error}`)
    assert.match(error.message, message)
    assert.ok(error.message.includes(file))
    return true
  })
  assert.ok(before.equals(readFileSync(file)), 'the file is untouched')
  assert.deepEqual(readdirSync(directory), names)
}

test('files of no known kind are refused and left as they are', async (t) => {
  for (const bytes of [Buffer.from('hello'), Buffer.alloc(100_000, 'random? '), Buffer.alloc(8_192), crypto.getRandomValues(Buffer.alloc(65_536))]) {
    const { directory, file } = await folder(t)
    writeFileSync(file, bytes)
    await refused(directory, /is not a store of Typernetes/)
  }
})

test('a truncated store is refused and left as it is', async (t) => {
  const { directory, file } = await filledStore(t)
  truncateSync(file, Math.floor((await stat(file)).size / 2))
  await refused(directory, /is damaged .*snapshot restore/)
})

test('a store with a broken header or index is refused and left as it is', async (t) => {
  for (const broken of ['second header', 'index']) {
    const { directory, file } = await filledStore(t)
    const bytes = readFileSync(file)
    const newest = bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(4096 + 152) ? 0 : 4096
    const at = broken === 'index' ? Number(bytes.readBigUInt64LE(newest + 24 + 112)) * 4096 : 4096
    writeSync(openSync(file, 'r+'), Buffer.alloc(4096, 0x5a), 0, 4096, at)
    await refused(directory, /is damaged/)
  }
})

test('an LMDB file of another program is refused and left as it is', async (t) => {
  const { directory, file } = await folder(t)
  const other = open({ path: file, noSubdir: true, overlappingSync: false })
  await other.put('theirs', { a: 1 })
  await other.close()
  await rm(`${file}-lock`)
  await refused(directory, /is not a store of Typernetes/)
})

test('a store of a newer format is refused and left as it is', async (t) => {
  const { directory, file } = await filledStore(t)
  const root = open<Buffer, Uint8Array>({ path: file, noSubdir: true, overlappingSync: false, encoding: 'binary', keyEncoding: 'binary' })
  root.putSync(Buffer.from('typernetes-store'), Buffer.from('2'))
  await root.close()
  await refused(directory, /has format 2, this version of Typernetes knows 1/)
})

test('a file where the directory should be is refused with its name', async (t) => {
  const { file } = await folder(t)
  writeFileSync(file, 'x')
  await assert.rejects(openLmdbStore({ directory: file }), { name: 'StoreOpenError', message: /cannot make .*store\.mdb/ })
})

test('an empty file, left by a process that ended too early, becomes a store; nobody else may read it', async (t) => {
  const { directory, file } = await folder(t)
  const inner = join(directory, 'a', 'b')
  await (await openLmdbStore({ directory: inner })).close()
  assert.equal((await stat(inner)).mode & 0o777, 0o700)
  assert.equal((await stat(join(inner, 'store.mdb'))).mode & 0o777, 0o600)
  writeFileSync(file, '')
  const store = await openLmdbStore({ directory })
  assert.equal(store.revision, 1)
  await store.close()
  assert.ok(existsSync(file))
})
