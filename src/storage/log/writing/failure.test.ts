import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { ChangeEvent, Store } from '../../store.ts'
import { openLogStore } from '../index.ts'
import { type Disk, systemDisk } from './disk.ts'

const range = { start: '/', end: '0' }
const put = (store: Store, key: string, bytes = 3000) =>
  store.commit({ conditions: [], operations: [{ key, value: Buffer.alloc(bytes, key) }] })
/** Resolves when the store accepts writes again. */
async function recovered(store: Store) {
  const deadline = performance.now() + 15_000
  while (store.problem !== undefined) {
    assert.ok(performance.now() < deadline, `the problem persists: ${store.problem}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const keysIn = async (store: Store) => (await store.list(range)).entries.map(({ key }) => key)

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 't8s-failure-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

/** A disk that can be made to fail after it has written a part of the bytes. */
function brokenDisk() {
  let code: string | undefined
  const disk: Disk = {
    write: async (fd, bytes, position) => {
      if (!code) return systemDisk.write(fd, bytes, position)
      await systemDisk.write(fd, bytes.subarray(0, Math.floor(bytes.length * 0.7)), position)
      throw Object.assign(new Error(`${code}: broken on purpose`), { code })
    },
  }
  return {
    disk,
    fail: (why: string) => {
      code = why
    },
    mend: () => {
      code = undefined
    },
  }
}

for (const [code, message] of [
  ['ENOSPC', /^the disk of .* is full \(ENOSPC\): free some space; writes resume automatically once there is space$/],
  ['EDQUOT', /^the quota for .* is used up \(EDQUOT\): free some space or raise it/],
  ['EIO', /^the disk of .* failed to write \(EIO\): check the system's log/],
  ['EXYZ', /^the store in .* could not write \(EXYZ: broken on purpose\)/],
] as const) {
  test(`${code} is reported; reads and watches continue; writes resume after the failure`, async (t) => {
    const directory = await folder(t)
    const { disk, fail, mend } = brokenDisk()
    const store = await openLogStore({ directory, tuning: { disk, probeMs: 5 } })
    const received: ChangeEvent[] = []
    const watch = store.watch(range, 1, { events: (events) => received.push(...events), end: () => {} })
    await put(store, '/before')
    fail(code)
    const refused = await Promise.allSettled(['/lost/1', '/lost/2', '/lost/3'].map((key) => put(store, key)))
    for (const outcome of refused) {
      assert.ok(outcome.status === 'rejected')
      assert.equal(outcome.reason.name, 'StoreFailedError')
      assert.match(outcome.reason.message, message)
    }
    assert.match(store.problem ?? '', message)
    await assert.rejects(put(store, '/lost/4'), { name: 'StoreFailedError', message })
    await assert.rejects(store.compact(await store.currentRevision()), { name: 'StoreFailedError', message })
    assert.deepEqual(await keysIn(store), ['/before'])
    mend()
    await recovered(store)
    assert.deepEqual(await put(store, '/after'), { committed: true, revision: 3 })
    assert.deepEqual(
      received.map(({ key, revision }) => `${key}@${revision}`),
      ['/before@2', '/after@3'],
    )
    assert.equal(watch.position, 3)
    await store.close()
    const again = await openLogStore({ directory })
    assert.deepEqual(await keysIn(again), ['/after', '/before'])
    assert.equal(await again.currentRevision(), 3)
    await again.close()
  })
}

test('a store on a broken disk can be closed and reopened by the same process', async (t) => {
  const directory = await folder(t)
  const { disk, fail, mend } = brokenDisk()
  const store = await openLogStore({ directory, tuning: { disk, probeMs: 5 } })
  await put(store, '/before')
  fail('EIO')
  await assert.rejects(put(store, '/lost'))
  await store.close()
  mend()
  const again = await openLogStore({ directory, tuning: { disk } })
  assert.deepEqual(await keysIn(again), ['/before'])
  assert.equal((await put(again, '/on')).committed, true)
  await again.close()
})

test('many disk failures lose no acknowledged write and keep no failed one', async (t) => {
  const directory = await folder(t)
  const { disk, fail, mend } = brokenDisk()
  const tuning = {
    disk,
    probeMs: 1,
    segmentBytes: 20_000,
    cleaning: { minBytes: 40_000, moveBytes: 5_000, pauseMs: 0 },
  }
  const store = await openLogStore({ directory, tuning })
  const acknowledged = new Map<string, number>()
  for (let round = 0; round < 30; round++) {
    for (let i = 0; i < 12; i++) {
      if (i === 8) fail('ENOSPC')
      const key = `/${(round * 5 + i) % 7}`
      await put(store, key, 2000).then(
        (result) => acknowledged.set(key, result.committed ? result.revision : 0),
        () => undefined,
      )
    }
    mend()
    await recovered(store)
    if (round % 4 === 0) await store.compact((await store.currentRevision()) - 3)
  }
  const expected = [...acknowledged].sort().map(([key, revision]) => `${key}@${revision}`)
  const shown = async (of: Store) => (await of.list(range)).entries.map(({ key, revision }) => `${key}@${revision}`)
  assert.deepEqual(await shown(store), expected)
  const revision = await store.currentRevision()
  const { compactedRevision } = store
  await store.close()
  const again = await openLogStore({ directory, tuning })
  assert.deepEqual(await shown(again), expected)
  assert.deepEqual([await again.currentRevision(), again.compactedRevision], [revision, compactedRevision])
  const { events, through } = await again.changes(range, compactedRevision)
  assert.deepEqual([events.length, through], [revision - compactedRevision, revision])
  await again.close()
})

test('a full disk loses no acknowledged write, and writes resume once there is space', async (t) => {
  const parent = await folder(t)
  const directory = join(parent, 'small')
  await mkdir(directory)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', directory], { stdio: 'ignore' })
  } catch {
    t.skip('mounting a small file system needs root')
    return
  }
  try {
    const store = await openLogStore({ directory: join(directory, 'store'), tuning: { probeMs: 5 } })
    const ballast = join(directory, 'ballast')
    writeFileSync(ballast, Buffer.alloc(1024 * 1024))
    const acknowledged: string[] = []
    let failure: Error | undefined
    for (let i = 0; !failure; i++) {
      const key = `/${String(i).padStart(5, '0')}`
      await put(store, key).then(
        () => acknowledged.push(key),
        (error: Error) => {
          failure = error
        },
      )
    }
    assert.match(failure.message, /is full \(ENOSPC\): free some space/)
    assert.ok(acknowledged.length > 100)
    assert.deepEqual(await keysIn(store), acknowledged)
    rmSync(ballast)
    await recovered(store)
    await put(store, '/later')
    await store.close()
    const again = await openLogStore({ directory: join(directory, 'store') })
    assert.deepEqual(await keysIn(again), [...acknowledged, '/later'])
    await again.close()
  } finally {
    execFileSync('umount', ['-l', directory])
  }
})

/** Fills the store until a file reaches its size limit, then continues once the store recovers. */
const script = `
  import { openLogStore } from '${import.meta.resolve('../index.ts')}'
  process.on('SIGXFSZ', () => {})
  process.on('unhandledRejection', (error) => { console.log('unhandled', error); process.exit(3) })
  const store = await openLogStore({ directory: process.argv[1], tuning: { probeMs: 5 } })
  const put = (key) => store.commit({ conditions: [], operations: [{ key, value: Buffer.alloc(3000) }] })
  const acknowledged = []
  const messages = new Set()
  for (let i = 0; messages.size === 0 || acknowledged.length < 1000; i += 16) {
    const keys = Array.from({ length: 16 }, (_, j) => '/' + (i + j))
    const failed = (error) => messages.add(error.name + ': ' + error.message)
    await Promise.all(keys.map((key) => put(key).then(() => acknowledged.push(key), failed)))
    while (store.problem) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await store.close()
  console.log(JSON.stringify({ acknowledged, messages: [...messages] }))`

test('at the file size limit the log continues in a new file', {
  skip: process.platform === 'win32' && 'needs ulimit',
}, async (t) => {
  const directory = await folder(t)
  const limited = [
    '-c',
    'ulimit -f 4000; exec "$0" "$@"',
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
    directory,
  ]
  const { stdout } = await promisify(execFile)('sh', limited)
  const { acknowledged, messages } = JSON.parse(stdout.trim().split('\n').at(-1)!)
  assert.equal(messages.length, 1)
  assert.match(messages[0], /^StoreFailedError: a file in .* may not grow \(EFBIG\): raise the limit/)
  const store = await openLogStore({ directory })
  assert.deepEqual((await keysIn(store)).sort(), acknowledged.sort())
  await store.close()
})
