import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Store, StoreFailedError, StoreOpenError } from '../store.ts'
import { openLogStore } from './index.ts'

const range = { start: '/', end: '0' }
const keysIn = async (store: Store) =>
  (await store.list(range)).entries.map(({ key, revision }) => `${key}@${revision}`)
const put = (store: Store, key: string, value: Buffer) => store.commit({ conditions: [], operations: [{ key, value }] })
const name = (number: number) => `${String(number).padStart(12, '0')}.log`

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 't8s-files-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

/** Creates a closed store of several segments. */
async function filledStore(t: TestContext) {
  const directory = await folder(t)
  const store = await openLogStore({ directory, tuning: { segmentBytes: 100_000 } })
  for (let i = 0; i < 100; i++) await put(store, `/k/${i}`, Buffer.alloc(3_000, i))
  await store.close()
  assert.ok(readdirSync(directory).length >= 4)
  return directory
}

const contents = (directory: string) =>
  new Map(readdirSync(directory).map((file) => [file, readFileSync(join(directory, file), 'latin1')]))

/** Asserts that opening fails with a sentence that names the file, and changes nothing. */
async function assertNotOpened(directory: string, file: string, message: RegExp) {
  const before = contents(directory)
  await assert.rejects(openLogStore({ directory }), (error) => {
    assert.ok(error instanceof StoreOpenError, `${error}`)
    assert.match(error.message, message)
    assert.ok(error.message.includes(join(directory, file)), error.message)
    return true
  })
  assert.deepEqual(contents(directory), before, 'nothing was touched')
}

/** Changes one byte of a file. */
function flip(directory: string, file: string, at: number) {
  const bytes = readFileSync(join(directory, file))
  bytes[at < 0 ? bytes.length + at : at]! ^= 0x20
  writeFileSync(join(directory, file), bytes)
}

test('files of an unknown kind are rejected and not changed', async (t) => {
  for (const bytes of [
    Buffer.from(''),
    Buffer.from('hello'),
    Buffer.alloc(100_000, 'random? '),
    Buffer.alloc(8_192),
    crypto.getRandomValues(Buffer.alloc(65_536)),
  ]) {
    const directory = await folder(t)
    writeFileSync(join(directory, name(1)), bytes)
    await assertNotOpened(directory, name(1), /is not a file of a store of Typernetes/)
  }
})

test('a store of an earlier version is rejected with advice', async (t) => {
  const directory = await folder(t)
  writeFileSync(join(directory, 'store.mdb'), 'LMDB')
  await assertNotOpened(directory, 'store.mdb', /written by an earlier version .* left as it was; save its objects/)
})

test('a store whose earlier version put and deleted a key in one transaction opens with both revisions', async (t) => {
  const directory = await folder(t)
  const segment = [
    'dDhzLWxvZwoBAAAA+boiGAEAAAABAAAAADhxXb09nUIAAAAAAADwPwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHQ4c0IQlszxLwAAAAEAAABA',
    'AAAATlxXb3yB8jIAAAIAAQAAAAAAAAAAAABAL2ExdDhzQmzLx+JfAAAAAwAAAG8AAABOXFdvBOGWxwAAAgAEAAAAAAAAAAAACEAvYWxhc3Qz',
    '78MHAQACAAAAAAAAAAAAAAAQQC9hhOGbPgAAAgABAAAAAAAAAAAAFEAvYTI=',
  ]
  writeFileSync(join(directory, name(1)), Buffer.from(segment.join(''), 'base64'))
  const mark = 'dDhzLW1hcmsKe+S8AQAAAAA4cV29PZ1CAAAAAADAaUAAAAAAAAAUQA=='
  writeFileSync(join(directory, 'commit-mark'), Buffer.from(mark, 'base64'))
  const notices: string[] = []
  const store = await openLogStore({ directory, notice: (sentence) => notices.push(sentence) })
  assert.deepEqual(notices, [])
  const { events, through } = await store.changes(range, 1)
  assert.equal(through, 5)
  assert.deepEqual(
    events.map(({ type, value, revision, previous }) => `${revision} ${type} ${value} was ${previous?.value}`),
    ['2 put 1 was undefined', '3 put last was 1', '4 delete undefined was last', '5 put 2 was undefined'],
  )
  assert.equal(String((await store.get('/a', 3))?.value), 'last')
  assert.equal(await store.get('/a', 4), undefined)
  assert.deepEqual(await keysIn(store), ['/a@5'])
  await put(store, '/a', Buffer.from('3'))
  await store.close()
  const again = await openLogStore({ directory })
  assert.deepEqual(await keysIn(again), ['/a@6'])
  await again.close()
})

test('a store of a newer format is rejected and not changed', async (t) => {
  const directory = await filledStore(t)
  const bytes = readFileSync(join(directory, name(2)))
  bytes.writeUInt32LE(2, 8)
  writeFileSync(join(directory, name(2)), bytes)
  await assertNotOpened(directory, name(2), /has format 2, this version of Typernetes knows 1/)
})

test('a broken header, a truncated file and a missing file are reported as damage', async (t) => {
  const original = await filledStore(t)
  const last = readdirSync(original).filter((file) => file.endsWith('.log')).length
  const damages: [number, (directory: string, file: string) => void][] = [
    [2, (directory, file) => flip(directory, file, 40)],
    [last, (directory, file) => flip(directory, file, 40)],
    [1, (directory, file) => truncateSync(join(directory, file), 50_000)],
    [2, (directory, file) => truncateSync(join(directory, file), 30)],
    [1, (directory, file) => rmSync(join(directory, file))],
    [2, (directory, file) => rmSync(join(directory, file))],
  ]
  for (const [number, damage] of damages) {
    const directory = join(await folder(t), 'store')
    await cp(original, directory, { recursive: true })
    damage(directory, name(number))
    await assertNotOpened(directory, name(number), /is damaged .*snapshot restore/)
  }
  const directory = join(await folder(t), 'store')
  await cp(original, directory, { recursive: true })
  rmSync(join(directory, name(last)))
  await assertNotOpened(
    directory,
    name(last - 1),
    /acknowledged changes are missing in .* \(the file that follows it is missing: revisions \d+ to 101\)/,
  )
})

test('files of two stores are not opened as one', async (t) => {
  const [one, other] = [await filledStore(t), await filledStore(t)]
  copyFileSync(join(other, name(2)), join(one, name(2)))
  await assertNotOpened(one, name(2), /is damaged \(it belongs to another store\)/)
})

test('a damaged index is ignored; a damaged batch is an error', async (t) => {
  const directory = await filledStore(t)
  const file = join(directory, name(1))
  truncateSync(file, statSync(file).size - 10)
  const store = await openLogStore({ directory })
  assert.equal((await keysIn(store)).length, 100)
  await store.close()
  truncateSync(file, statSync(file).size - 10)
  flip(directory, name(1), 50_000)
  await assertNotOpened(directory, name(1), /is damaged \(it cannot be read from byte/)
})

test('a damaged value is not returned; others are', async (t) => {
  const directory = await filledStore(t)
  flip(directory, name(1), 50_000)
  const store = await openLogStore({ directory })
  const outcomes = await Promise.allSettled(Array.from({ length: 100 }, (_, i) => store.get(`/k/${i}`)))
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
  assert.equal(failed.length, 1)
  assert.ok(failed[0]!.reason instanceof StoreFailedError)
  assert.match(failed[0]!.reason.message, /is damaged: what \/k\/\d+ was at revision \d+ cannot be read/)
  await store.close()
})

test('without a commit mark, a torn last batch is dropped; damage before it is an error', async (t) => {
  const original = await folder(t)
  const store = await openLogStore({ directory: original })
  for (const key of ['/a', '/b']) await put(store, key, Buffer.from('value'))
  const before = statSync(join(original, name(1))).size
  const operations = ['/c', '/d'].map((key) => ({ key, value: Buffer.alloc(40, key) }))
  await store.commit({ conditions: [], operations: [...operations, { key: '/a', delete: true }] })
  await store.close()
  const whole = readFileSync(join(original, name(1)))
  const directory = await folder(t)
  const openWith = async (bytes: Buffer) => {
    for (const file of readdirSync(directory)) rmSync(join(directory, file))
    writeFileSync(join(directory, name(1)), bytes)
    return openLogStore({ directory, notice: () => {} })
  }
  const torn = async (bytes: Buffer, what: string, writeMore: boolean) => {
    const store = await openWith(bytes)
    assert.deepEqual([await store.currentRevision(), await keysIn(store)], [3, ['/a@2', '/b@3']], what)
    if (!writeMore) return store.close()
    await put(store, '/e', Buffer.from('on'))
    await store.close()
    const again = await openLogStore({ directory })
    assert.deepEqual(await keysIn(again), ['/a@2', '/b@3', '/e@4'], what)
    await again.close()
  }
  for (let length = before; length < whole.length; length++) {
    const goOn = length % 16 === 0
    await torn(whole.subarray(0, length), `cut at ${length}`, goOn)
    const flipped = Buffer.from(whole)
    flipped[length]! ^= 0x20
    await torn(flipped, `changed at ${length}`, goOn)
    const zeroed = Buffer.from(whole)
    zeroed.fill(0, length)
    // The bytes may be zeros already.
    if (!zeroed.equals(whole)) await torn(zeroed, `zeros from ${length} on`, goOn)
  }
  for (let at = 64; at < before; at++) {
    const flipped = Buffer.from(whole)
    flipped[at]! ^= 0x20
    await assert.rejects(
      openWith(flipped),
      { name: 'StoreOpenError', message: /\(it cannot be read at byte/ },
      `changed at ${at}`,
    )
  }
  const intact = await openWith(whole)
  assert.deepEqual(await keysIn(intact), ['/b@3', '/c@4', '/d@4'])
  await intact.close()
})

test('a file in place of the store directory is an error that names it', async (t) => {
  const file = join(await folder(t), 'store')
  writeFileSync(file, 'x')
  await assert.rejects(openLogStore({ directory: file }), {
    name: 'StoreOpenError',
    message: /cannot make .*store: a file of that name is in the way/,
  })
})

test('store files are private to the user, and an unfinished file is removed', async (t) => {
  const directory = join(await folder(t), 'a', 'b')
  await (await openLogStore({ directory })).close()
  assert.equal((await stat(directory)).mode & 0o777, 0o700)
  assert.equal((await stat(join(directory, name(1)))).mode & 0o777, 0o600)
  writeFileSync(join(directory, `${name(2)}.new`), 'half')
  const store = await openLogStore({ directory })
  assert.equal(await store.currentRevision(), 1)
  await store.close()
  assert.deepEqual(readdirSync(directory), [name(1), 'commit-mark'])
  assert.equal((await stat(join(directory, 'commit-mark'))).mode & 0o777, 0o600)
})
