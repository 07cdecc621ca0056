import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CompactedError, type Store, StoreOpenError } from '../../store.ts'
import { openLogStore } from '../index.ts'
import { revisionBump } from '../log.ts'
import { saveSnapshot } from '../snapshots/save.ts'

const file = '000000000001.log'
const range = { start: '/', end: '0' }
const keysIn = async (store: Store) =>
  (await store.list(range)).entries.map(({ key, revision }) => `${key}@${revision}`)
const put = (store: Store, ...keys: string[]) =>
  store.commit({ conditions: [], operations: keys.map((key) => ({ key, value: Buffer.from(`the value of ${key}`) })) })

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 't8s-damage-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return join(directory, 'store')
}

interface Files {
  /** The content of the only segment. */
  readonly log: Buffer
  readonly mark?: Buffer
}

/** A store with `/a` at revision 2, `/b` at 3, and, in one last batch, `/c` and `/d` at 4. */
async function written(t: TestContext) {
  const directory = folder(t)
  const store = await openLogStore({ directory })
  await put(store, '/a')
  await put(store, '/b')
  const read = (name: string): Buffer => readFileSync(join(directory, name))
  const before = { log: read(file), mark: read('commit-mark') }
  await put(store, '/c', '/d')
  await store.close()
  return { directory, before, whole: { log: read(file), mark: read('commit-mark') } }
}

function lay(directory: string, { log, mark }: Files): void {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  writeFileSync(join(directory, file), log)
  if (mark) writeFileSync(join(directory, 'commit-mark'), mark)
}

const contents = (directory: string) =>
  new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'latin1')]))

async function assertNotOpened(directory: string, message: RegExp, what: string): Promise<void> {
  const before = contents(directory)
  await assert.rejects(openLogStore({ directory }), (error) => {
    assert.ok(error instanceof StoreOpenError, `${what}: ${error}`)
    assert.match(error.message, message, what)
    return true
  })
  assert.deepEqual(contents(directory), before, `${what}: nothing was touched`)
}

/** Opens a store and returns its keys, its revision and the notices. */
async function opened(directory: string, acceptDataLoss = false) {
  const notices: string[] = []
  const store = await openLogStore({ directory, acceptDataLoss, notice: (sentence) => notices.push(sentence) })
  try {
    return { keys: await keysIn(store), revision: await store.currentRevision(), notices }
  } finally {
    await store.close()
  }
}

/** Yields the log with its last batch damaged at one byte, in several ways. */
function* damages({ log }: Files, last: number): Generator<{ readonly log: Buffer; readonly what: string }> {
  for (let at = last; at < log.length; at++) {
    yield { log: log.subarray(0, at), what: `cut at ${at}` }
    for (const bit of [0x01, 0x80]) {
      const flipped = Buffer.from(log)
      flipped[at]! ^= bit
      yield { log: flipped, what: `bit ${bit} changed at ${at}` }
    }
    const zeroed = Buffer.from(log).fill(0, at)
    // The bytes may be zeros already.
    if (!zeroed.equals(log)) yield { log: zeroed, what: `zeros from ${at} on` }
  }
}

test('a store whose acknowledged last write is damaged at any byte is not opened or changed', async (t) => {
  const { directory, before, whole } = await written(t)
  for (const { log, what } of damages(whole, before.log.length)) {
    lay(directory, { log, mark: whole.mark })
    const message = new RegExp(
      'changes are missing in .*1\\.log \\(it (ends at|cannot be read from) byte \\d+.*, and \\d+ bytes up to ' +
        'byte \\d+ had been acknowledged: revision 4\\): .* restore a snapshot .*--accept-data-loss',
    )
    await assertNotOpened(directory, message, what)
  }
})

test('a torn, never acknowledged last write is dropped, saved beside the log and reported', async (t) => {
  const { directory, before, whole } = await written(t)
  const position = before.log.length
  for (const { log, what } of damages(whole, position)) {
    lay(directory, { log, mark: before.mark })
    const { keys, revision, notices } = await opened(directory)
    assert.deepEqual([keys, revision], [['/a@2', '/b@3'], 3], what)
    const aside = join(directory, `${file}.cut-${position}`)
    if (log.length === position) {
      assert.deepEqual(notices, [], what)
      continue
    }
    assert.equal(notices.length, 1, what)
    assert.match(
      notices[0]!,
      /^the last \d+ bytes? of .* are a write that had not been acknowledged .* kept in .*\.log\.cut-\d+$/,
      what,
    )
    assert.ok(readFileSync(aside).equals(log.subarray(position)), what)
    assert.equal(statSync(aside).mode & 0o777, 0o600)
  }
})

test('a saved copy of dropped bytes is never overwritten', async (t) => {
  const { directory, before, whole } = await written(t)
  const aside = `${file}.cut-${before.log.length}`
  const torn = whole.log.subarray(0, -7)
  lay(directory, { log: torn, mark: before.mark })
  writeFileSync(join(directory, aside), 'foreign')
  await opened(directory)
  await opened(directory)
  assert.deepEqual(readdirSync(directory), [file, aside, `${aside}-2`, 'commit-mark'])
  assert.equal(readFileSync(join(directory, aside), 'utf8'), 'foreign')
  assert.ok(readFileSync(join(directory, `${aside}-2`)).equals(torn.subarray(before.log.length)))
})

test('acceptDataLoss opens a damaged store permanently, with the revisions that remain', async (t) => {
  const { directory, before, whole } = await written(t)
  const broken = Buffer.from(whole.log)
  broken[before.log.length - 1]! ^= 1
  for (const log of [
    whole.log.subarray(0, -7),
    whole.log.subarray(0, whole.log.length >> 1),
    before.log,
    before.log.subarray(0, 64),
    broken,
  ]) {
    lay(directory, { log, mark: whole.mark })
    await assertNotOpened(directory, /--accept-data-loss/, `${log.length} bytes`)
    const { keys, revision, notices } = await opened(directory, true)
    assert.deepEqual(keys, ['/a@2', '/b@3'].slice(0, keys.length))
    assert.match(
      notices.join(),
      /^changes that had been acknowledged are lost .* goes on with what it has up to revision [123]/,
    )
    const aside = readdirSync(directory).find((name) => name.includes('.cut-'))
    if (aside) assert.ok(readFileSync(join(directory, aside)).equals(log.subarray(Number(/\d+$/.exec(aside)![0]))))
    else assert.doesNotMatch(notices.join(), /kept/)
    assert.ok(revision >= revisionBump, 'no revision is reused')
    const again = await openLogStore({ directory, notice: (sentence) => assert.fail(sentence) })
    assert.deepEqual([await keysIn(again), await again.currentRevision()], [keys, revision])
    await assert.rejects(again.changes(range, 4), CompactedError)
    await put(again, '/e')
    await again.close()
    assert.deepEqual((await opened(directory)).keys, [...keys, `/e@${revision + 1}`])
  }
})

test('missing segment files are detected', async (t) => {
  const directory = folder(t)
  const store = await openLogStore({ directory, tuning: { segmentBytes: 300 } })
  for (const key of ['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h']) await put(store, key)
  await store.close()
  const newest = readdirSync(directory).findLast((name) => name.endsWith('.log'))!
  rmSync(join(directory, newest))
  await assertNotOpened(directory, /the file that follows it is missing: revisions? .*--accept-data-loss/, 'the newest')
  const { keys } = await opened(directory, true)
  assert.ok(keys.length > 0 && keys.length < 8, `${keys}`)
  assert.deepEqual((await opened(directory)).notices, [])
  for (const name of readdirSync(directory)) if (name.endsWith('.log')) rmSync(join(directory, name))
  await assertNotOpened(
    directory,
    /the store had revision 1\d+, and all its files are missing.*--accept-data-loss/,
    'all',
  )
  const { keys: left, revision, notices } = await opened(directory, true)
  assert.deepEqual(left, [])
  assert.ok(revision > 2 * revisionBump)
  assert.match(notices.join(), /all files of the store in .* are missing/)
})

test('acceptDataLoss ignores deleted segments, even if the record of their deletion is lost', async (t) => {
  const directory = folder(t)
  const tuning = { segmentBytes: 2_000, cleaning: { minBytes: 4_000, moveBytes: 1_000, pauseMs: 0 } }
  const store = await openLogStore({ directory, tuning })
  const first = (): string => readdirSync(directory).find((name) => name.endsWith('.log'))!
  // Until the newest segment has the record of a deleted segment, but its header does not name the new oldest one yet.
  for (let i = 0; first() === file; i++) {
    await put(store, `/k${i % 3}`)
    await store.compact(await store.currentRevision())
  }
  await store.close()
  const newest = readdirSync(directory).findLast((name) => name.endsWith('.log'))!
  truncateSync(join(directory, newest), 64)
  await assertNotOpened(directory, /--accept-data-loss/, 'the record is lost')
  const { keys } = await opened(directory, true)
  assert.ok(keys.length <= 3)
  assert.deepEqual((await opened(directory)).keys, keys)
})

test('a missing or unusable commit mark is reported, with what cannot be verified', async (t) => {
  const { directory, before, whole } = await written(t)
  const other = (await written(t)).whole.mark
  const flipped = (at: number): Buffer => Buffer.from(whole.mark.map((byte, i) => (i === at ? byte ^ 1 : byte)))
  const marks: [Buffer | undefined, RegExp][] = [
    [undefined, /commit-mark is missing, .* so it is not known whether changes after revision 4 are missing/],
    [other, /commit-mark belongs to another store/],
    [Buffer.alloc(0), /commit-mark cannot be read/],
    ...Array.from(whole.mark.keys(), (at): [Buffer, RegExp] => [flipped(at), /commit-mark cannot be read/]),
  ]
  for (const [mark, message] of marks) {
    lay(directory, { log: whole.log, mark })
    const { notices, revision } = await opened(directory)
    assert.equal(revision, 4)
    assert.equal(notices.length, 1)
    assert.match(notices[0]!, message)
    assert.deepEqual((await opened(directory)).notices, [], 'a new mark was made')
    lay(directory, { log: whole.log.subarray(0, -7), mark })
    const torn = await opened(directory)
    assert.equal(torn.revision, 3)
    assert.match(torn.notices[1]!, /the last \d+ bytes of .* cannot be read and were left out; they are kept in /)
    assert.ok(existsSync(join(directory, `${file}.cut-${before.log.length}`)))
  }
})

test('a failure to write the commit mark is reported once, and the store accepts writes', async (t) => {
  const { directory, whole } = await written(t)
  const warnings: string[] = []
  const listen = ({ name, message }: Error): void => void (name === 'StoreWarning' && warnings.push(message))
  process.on('warning', listen)
  t.after(() => process.off('warning', listen))
  lay(directory, whole)
  rmSync(join(directory, 'commit-mark'))
  symlinkSync('/dev/full', join(directory, 'commit-mark'))
  const store = await openLogStore({ directory, notice: () => {} })
  for (const key of ['/e', '/f']) assert.equal((await put(store, key)).committed, true)
  await store.close()
  assert.equal(warnings.length, 1)
  assert.match(
    warnings[0]!,
    /commit-mark cannot be written \(ENOSPC.*\): acknowledged changes that are lost later may not be noticed/,
  )
})

test('a snapshot of a store that has lost changes is rejected', async (t) => {
  const { directory, whole } = await written(t)
  lay(directory, whole)
  truncateSync(join(directory, file), whole.log.length - 7)
  await assert.rejects(saveSnapshot(directory, `${directory}.snapshot`), {
    name: 'StoreOpenError',
    message: /acknowledged changes are missing/,
  })
})
