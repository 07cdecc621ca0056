import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Store } from '../store.ts'
import { openLogStore, type Tuning } from './index.ts'

const range = { start: '/', end: '0' }
const tuning: Partial<Tuning> = { segmentBytes: 20_000, cleaning: { minBytes: 40_000, moveBytes: 4_000, pauseMs: 0 } }
const put = (store: Store, key: string, bytes = 1000) =>
  store.commit({ conditions: [], operations: [{ key, value: Buffer.alloc(bytes, key) }] })
const remove = (store: Store, key: string) => store.commit({ conditions: [], operations: [{ key, delete: true }] })
const shown = async (store: Store, revision = 0) =>
  (await store.list({ ...range, revision })).entries.map(({ key, revision }) => `${key}@${revision}`)
const bytesIn = (directory: string) =>
  readdirSync(directory).reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
const oldestIn = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort()[0]

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 't8s-cleaning-'))
  t.after(() => rm(directory, { recursive: true }))
  return join(directory, 'store')
}

async function until(what: string, condition: () => boolean) {
  const deadline = performance.now() + 15_000
  while (!condition()) {
    assert.ok(performance.now() < deadline, what)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('compacted versions free their disk space while the store is in use', async (t) => {
  const directory = await folder(t)
  const store = await openLogStore({ directory, tuning })
  await put(store, '/kept/for/ever')
  for (let i = 0; i < 300; i++) await put(store, `/k/${i % 10}`)
  assert.ok(bytesIn(directory) > 300_000)
  await store.compact(await store.currentRevision())
  await until('the log becomes small', () => bytesIn(directory) < 60_000)
  const state = await shown(store)
  assert.equal(state.length, 11)
  assert.equal((await store.get('/kept/for/ever'))?.value.toString().slice(0, 14), '/kept/for/ever')
  await store.close()
  const again = await openLogStore({ directory, tuning })
  assert.deepEqual(await shown(again), state)
  assert.equal(await again.currentRevision(), 302)
  await again.close()
})

test('a store closed before it could free space frees it when reopened', async (t) => {
  const directory = await folder(t)
  const store = await openLogStore({ directory })
  for (let i = 0; i < 300; i++) await put(store, `/k/${i % 10}`)
  await store.compact(await store.currentRevision())
  await store.close()
  const again = await openLogStore({ directory, tuning })
  for (let i = 0; i < 5; i++) await put(again, `/k/${i}`, 10_000)
  const state = await shown(again)
  await again.close()
  const third = await openLogStore({ directory, tuning })
  await until('the log becomes small', () => bytesIn(directory) < 150_000)
  assert.deepEqual(await shown(third), state)
  await third.close()
})

test('a deleted key stays deleted after its value is moved behind its deletion and compacted', async (t) => {
  const directory = await folder(t)
  let store = await openLogStore({ directory, tuning })
  const garbage = async (count: number) => {
    for (let i = 0; i < count; i++) await put(store, '/garbage')
  }
  await put(store, '/victim')
  await garbage(150)
  await remove(store, '/victim')
  const deleted = await store.currentRevision()
  // Live records between the deletion and the new place of the value.
  for (let i = 0; i < 50; i++) await put(store, `/live/${i}`)
  // Reads before the deletion still need the value while the oldest files are cleaned: it is moved behind its deletion.
  await store.compact(deleted - 1)
  await until('the file with the value is deleted', () => oldestIn(directory)! > '000000000001')
  assert.equal((await store.get('/victim', deleted - 1))?.revision, 2)
  await store.compact(await store.currentRevision())
  const before = oldestIn(directory)!
  for (let round = 0; round < 40; round++) {
    await garbage(8)
    await store.compact(await store.currentRevision())
    await store.close()
    store = await openLogStore({ directory, tuning })
    assert.equal(await store.get('/victim'), undefined)
  }
  await until('more files are deleted', () => oldestIn(directory)! > before)
  await store.close()
  const again = await openLogStore({ directory, tuning })
  assert.equal((await shown(again)).length, 51)
  await again.close()
})

test('random writes, compactions and restarts never lose a version that is still needed', async (t) => {
  const directory = await folder(t)
  let seed = 42
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % below
  }
  let store = await openLogStore({ directory, tuning })
  /** The keys in the store at each revision. */
  const states = [[], []] as string[][]
  const state = new Map<string, number>()
  for (let step = 0; step < 3_000; step++) {
    const key = `/k/${random(30)}`
    if (random(3) === 0) await remove(store, key)
    else await put(store, key, random(1500))
    if ((await store.currentRevision()) === states.length) {
      const entry = await store.get(key)
      if (entry) state.set(key, entry.revision)
      else state.delete(key)
      states.push([...state].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, revision]) => `${key}@${revision}`))
    }
    if (random(40) === 0) await store.compact(Math.max(1, (await store.currentRevision()) - random(200)))
    if (random(150) !== 0) continue
    await store.close()
    store = await openLogStore({ directory, tuning })
    const newest = await store.currentRevision()
    const oldest = Math.max(1, store.compactedRevision)
    assert.equal(newest, states.length - 1)
    for (const revision of [store.compactedRevision, newest - random(20), newest]) {
      if (revision < oldest) continue
      assert.deepEqual(await shown(store, revision), states[revision], `at ${revision}`)
    }
    const { events, through } = await store.changes(range, oldest)
    assert.deepEqual([events.length, through], [newest - oldest, newest])
  }
  assert.ok(oldestIn(directory)! > '000000000010', oldestIn(directory))
  await store.close()
})

test('many starts after crashes leave few files', async (t) => {
  const directory = await folder(t)
  const open = async () => {
    await mkdir(directory, { recursive: true })
    // The owner file of a process that has exited.
    writeFileSync(join(directory, 'owner'), '{}')
    return openLogStore({ directory })
  }
  for (let i = 0; i < 40; i++) {
    const store = await open()
    await put(store, `/k/${i}`)
    await store.close()
  }
  const store = await open()
  await until('few files remain', () => readdirSync(directory).length < 15)
  assert.equal((await shown(store)).length, 40)
  await store.close()
})
