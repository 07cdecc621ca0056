import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Store } from '../store.ts'
import { openLmdbStore } from './index.ts'
import { restoreSnapshot, saveSnapshot } from './snapshot.ts'

const range = { start: '/', end: '0' }
const put = (store: Store, key: string, value: string) => store.commit({ conditions: [], operations: [{ key, value: Buffer.from(value) }] })
const shown = async (store: Store, revision = 0) =>
  (await store.list({ ...range, revision })).entries.map(({ key, value, revision }) => `${key}=${value}@${revision}`)

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 't8s-snapshot-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

async function twoKeys(directory: string) {
  const store = await openLmdbStore({ directory })
  await put(store, '/a', '1')
  await put(store, '/b', '2')
  await put(store, '/a', '3')
  return store
}

test('a snapshot of a store in use is restored elsewhere, with its history, and goes on from its revision', async (t) => {
  const directory = await folder(t)
  const store = await twoKeys(join(directory, 'store'))
  const file = join(directory, 'snapshot')
  await saveSnapshot(join(directory, 'store'), file)
  await put(store, '/c', 'later')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await restoreSnapshot(file, join(directory, 'restored'))
  const restored = await openLmdbStore({ directory: join(directory, 'restored') })
  assert.deepEqual(await shown(restored), ['/a=3@4', '/b=2@3'])
  assert.deepEqual(await shown(restored, 3), ['/a=1@2', '/b=2@3'])
  assert.deepEqual(await put(restored, '/d', 'on'), { committed: true, revision: 5 })
  assert.deepEqual(await shown(store), ['/a=3@4', '/b=2@3', '/c=later@5'])
  await restored.close()
  await store.close()
  assert.deepEqual(readdirSync(directory).sort(), ['restored', 'snapshot', 'store'])
  assert.deepEqual(readdirSync(join(directory, 'restored')).sort(), ['store.mdb', 'store.mdb-lock'])
})

test('a snapshot of a store that nobody uses', async (t) => {
  const directory = await folder(t)
  await (await twoKeys(join(directory, 'store'))).close()
  await saveSnapshot(join(directory, 'store'), join(directory, 'snapshot'))
  await restoreSnapshot(join(directory, 'snapshot'), join(directory, 'restored'))
  const restored = await openLmdbStore({ directory: join(directory, 'restored') })
  assert.deepEqual(await shown(restored), ['/a=3@4', '/b=2@3'])
  await restored.close()
})

test('snapshots taken while writers run are whole: each shows a state that was', async (t) => {
  const directory = await folder(t)
  const store = await openLmdbStore({ directory: join(directory, 'store') })
  let writing = true
  const writer = async (id: number) => {
    for (let i = 0; writing; i++) {
      const operations = ['a', 'b'].map((name) => ({ key: `/${id}/${name}`, value: Buffer.alloc(2_500, `${i} `) }))
      await store.commit({ conditions: [], operations })
    }
  }
  const writers = Array.from({ length: 8 }, (_, id) => writer(id))
  for (let i = 0; i < 5; i++) {
    await saveSnapshot(join(directory, 'store'), join(directory, `snapshot-${i}`))
    await restoreSnapshot(join(directory, `snapshot-${i}`), join(directory, `restored-${i}`))
    const restored = await openLmdbStore({ directory: join(directory, `restored-${i}`) })
    for (let id = 0; id < 8; id++) {
      const [a, b] = await Promise.all([restored.get(`/${id}/a`), restored.get(`/${id}/b`)])
      assert.equal(a?.revision, b?.revision)
      assert.ok(!a || a.value.equals(b!.value))
    }
    assert.ok(restored.revision <= store.revision)
    await restored.close()
  }
  writing = false
  await Promise.all(writers)
  await store.close()
})

test('nothing is overwritten: neither a file by a snapshot nor a store by a restore', async (t) => {
  const directory = await folder(t)
  const store = await twoKeys(join(directory, 'store'))
  const file = join(directory, 'snapshot')
  writeFileSync(file, 'precious')
  await assert.rejects(saveSnapshot(join(directory, 'store'), file), { name: 'ExplainedError', message: /snapshot exists already: it was left as it is/ })
  assert.equal(readFileSync(file, 'utf8'), 'precious')
  await saveSnapshot(join(directory, 'store'), join(directory, 'other'))
  await assert.rejects(restoreSnapshot(join(directory, 'other'), join(directory, 'store')), { name: 'ExplainedError', message: /store\.mdb exists already/ })
  await put(store, '/still', 'here')
  await store.close()
})

test('what is no snapshot is not restored, and leaves nothing behind', async (t) => {
  const directory = await folder(t)
  const target = join(directory, 'restored')
  writeFileSync(join(directory, 'random'), Buffer.alloc(50_000, 'x'))
  writeFileSync(join(directory, 'empty'), '')
  await assert.rejects(restoreSnapshot(join(directory, 'random'), target), { name: 'StoreOpenError', message: /random is not a store of Typernetes/ })
  await assert.rejects(restoreSnapshot(join(directory, 'empty'), target), { name: 'ExplainedError', message: /give a file that `t8s snapshot save` wrote/ })
  await assert.rejects(restoreSnapshot(join(directory, 'absent'), target), { name: 'ExplainedError' })
  assert.deepEqual(readdirSync(directory).sort(), ['empty', 'random'])
})

test('a directory without a store has no snapshot; a folder that is missing is named', async (t) => {
  const directory = await folder(t)
  await assert.rejects(saveSnapshot(directory, join(directory, 'snapshot')), { name: 'StoreOpenError', message: /holds no store/ })
  const store = await twoKeys(join(directory, 'store'))
  await assert.rejects(saveSnapshot(join(directory, 'store'), join(directory, 'no', 'snapshot')), {
    name: 'ExplainedError',
    message: /cannot write .*no such file or directory/,
  })
  await store.close()
  assert.deepEqual(readdirSync(directory), ['store'])
})
