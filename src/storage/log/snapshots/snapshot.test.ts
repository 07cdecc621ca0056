import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CompactedError, type Store } from '../../store.ts'
import { openLogStore } from '../index.ts'
import { revisionBump } from '../log.ts'
import { restoreSnapshot } from './restore-snapshot.fixture.ts'
import { saveSnapshot } from './save.ts'

const range = { start: '/', end: '0' }
const put = (store: Store, key: string, value: string) =>
  store.commit({ conditions: [], operations: [{ key, value: Buffer.from(value) }] })
const shown = async (store: Store, revision = 0) =>
  (await store.list({ ...range, revision })).entries.map(({ key, value, revision }) => `${key}=${value}@${revision}`)

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 't8s-snapshot-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

async function twoKeys(directory: string) {
  const store = await openLogStore({ directory })
  await put(store, '/a', '1')
  await put(store, '/b', '2')
  await put(store, '/c', 'deleted')
  await put(store, '/a', '3')
  await store.commit({ conditions: [], operations: [{ key: '/c', delete: true }] })
  return store
}

test('a restored snapshot of a store in use continues far above its revision, compacted', async (t) => {
  const directory = await folder(t)
  const store = await twoKeys(join(directory, 'store'))
  const file = join(directory, 'snapshot')
  await saveSnapshot(join(directory, 'store'), file)
  await put(store, '/d', 'later')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await restoreSnapshot(file, join(directory, 'restored'))
  for (const revision of [6 + revisionBump, 7 + revisionBump]) {
    const restored = await openLogStore({ directory: join(directory, 'restored') })
    assert.deepEqual([await restored.currentRevision(), restored.compactedRevision], [revision, 6 + revisionBump])
    assert.deepEqual((await shown(restored)).slice(0, 2), ['/a=3@5', '/b=2@3'])
    await assert.rejects(shown(restored, 6), CompactedError)
    await assert.rejects(restored.changes(range, 6), CompactedError)
    const ended = Promise.withResolvers<Error>()
    restored.watch(range, 6, { events: () => {}, end: ended.resolve })
    assert.ok((await ended.promise) instanceof CompactedError)
    // Conditions on revisions from before the restore still hold.
    const changed = await restored.commit({
      conditions: [{ key: '/b', revision: 3 }],
      operations: [{ key: '/d', value: Buffer.from('on') }],
    })
    assert.deepEqual(changed, { committed: true, revision: revision + 1 })
    await restored.close()
  }
  assert.deepEqual(await shown(store), ['/a=3@5', '/b=2@3', '/d=later@7'])
  await store.close()
  assert.deepEqual(readdirSync(directory).sort(), ['restored', 'snapshot', 'store'])
})

test('a snapshot of a closed store contains its objects and does not change it', async (t) => {
  const directory = await folder(t)
  await (await twoKeys(join(directory, 'store'))).close()
  const before = readdirSync(join(directory, 'store'))
  await saveSnapshot(join(directory, 'store'), join(directory, 'snapshot'))
  assert.deepEqual(readdirSync(join(directory, 'store')), before)
  await mkdir(join(directory, 'restored'))
  await restoreSnapshot(join(directory, 'snapshot'), join(directory, 'restored'))
  const restored = await openLogStore({ directory: join(directory, 'restored') })
  assert.deepEqual(await shown(restored), ['/a=3@5', '/b=2@3'])
  await restored.close()
})

test('a snapshot of thousands of objects is restored unchanged', async (t) => {
  const directory = await folder(t)
  const store = await openLogStore({ directory: join(directory, 'store') })
  await Promise.all(Array.from({ length: 3_000 }, (_, i) => put(store, `/k/${i}`, `${i} `.repeat(i % 500))))
  const state = await shown(store)
  await saveSnapshot(join(directory, 'store'), join(directory, 'snapshot'))
  await store.close()
  await restoreSnapshot(join(directory, 'snapshot'), join(directory, 'restored'))
  const restored = await openLogStore({ directory: join(directory, 'restored') })
  assert.deepEqual(await shown(restored), state)
  await restored.close()
})

const small = { segmentBytes: 60_000, cleaning: { minBytes: 100_000, moveBytes: 10_000, pauseMs: 0 } }

/** Writes pairs of keys with equal values, and compacts, until it receives a message. */
const writerScript = `
  import { openLogStore } from '${import.meta.resolve('../index.ts')}'
  const store = await openLogStore({ directory: process.argv[2], tuning: ${JSON.stringify(small)} })
  let writing = true
  process.on('message', () => { writing = false })
  const writer = async (id) => {
    for (let i = 0; writing; i++) {
      const operations = ['a', 'b'].map((name) => ({ key: '/' + id + '/' + name, value: Buffer.alloc(2500, i + ' ') }))
      await store.commit({ conditions: [], operations })
      if (id === 0 && i % 5 === 0) await store.compact((await store.currentRevision()) - 5)
      if (id === 0 && i === 20) process.send('writing')
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, id) => writer(id)))
  await store.close()
  process.disconnect()`

async function isWhole(directory: string, name: string) {
  await restoreSnapshot(join(directory, name), join(directory, `restored-${name}`))
  const restored = await openLogStore({ directory: join(directory, `restored-${name}`) })
  for (let id = 0; id < 8; id++) {
    const [a, b] = await Promise.all([restored.get(`/${id}/a`), restored.get(`/${id}/b`)])
    assert.ok(a && b)
    assert.equal(a.revision, b.revision)
    assert.ok(a.value.equals(b.value))
  }
  await restored.close()
}

test('snapshots are consistent while another process writes and cleans the log', async (t) => {
  const directory = await folder(t)
  writeFileSync(join(directory, 'writer.ts'), writerScript)
  const writer = fork(join(directory, 'writer.ts'), [join(directory, 'store')], {
    execArgv: [],
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  })
  const ended = once(writer, 'exit')
  await once(writer, 'message')
  try {
    for (let i = 0; i < 15; i++) {
      await saveSnapshot(join(directory, 'store'), join(directory, `snapshot-${i}`))
      await isWhole(directory, `snapshot-${i}`)
    }
  } finally {
    writer.send('stop')
    await ended
  }
  assert.ok(readdirSync(join(directory, 'store')).sort()[0]! > '000000000003', 'the log was cleaned meanwhile')
})

test('snapshots are consistent while this process writes and cleans the log', async (t) => {
  const directory = await folder(t)
  const store = await openLogStore({ directory: join(directory, 'store'), tuning: small })
  let writing = true
  const writer = async (id: number) => {
    for (let i = 0; writing; i++) {
      const operations = ['a', 'b'].map((name) => ({ key: `/${id}/${name}`, value: Buffer.alloc(2_500, `${i} `) }))
      await store.commit({ conditions: [], operations })
      if (id === 0 && i % 20 === 0) await store.compact((await store.currentRevision()) - 5)
    }
  }
  const writers = Array.from({ length: 8 }, (_, id) => writer(id))
  await put(store, '/begun', '')
  for (let i = 0; i < 5; i++) {
    await saveSnapshot(join(directory, 'store'), join(directory, `snapshot-${i}`))
    await isWhole(directory, `snapshot-${i}`)
  }
  writing = false
  await Promise.all(writers)
  await store.close()
})

test('a snapshot overwrites no file, and a restore no directory with data', async (t) => {
  const directory = await folder(t)
  const store = await twoKeys(join(directory, 'store'))
  const file = join(directory, 'snapshot')
  writeFileSync(file, 'precious')
  await assert.rejects(saveSnapshot(join(directory, 'store'), file), {
    name: 'ExplainedError',
    message: /snapshot exists already: it was left as it is/,
  })
  assert.equal(readFileSync(file, 'utf8'), 'precious')
  await saveSnapshot(join(directory, 'store'), join(directory, 'other'))
  await assert.rejects(restoreSnapshot(join(directory, 'other'), join(directory, 'store')), {
    name: 'ExplainedError',
    message: /store holds data already/,
  })
  await put(store, '/still', 'here')
  await store.close()
  await mkdir(join(directory, 'full'))
  writeFileSync(join(directory, 'full', 'precious'), '')
  await assert.rejects(restoreSnapshot(join(directory, 'other'), join(directory, 'full')), {
    name: 'ExplainedError',
    message: /full holds data already/,
  })
  assert.deepEqual(readdirSync(join(directory, 'full')), ['precious'])
})

test('a file that is not a whole snapshot is not restored and leaves no files', async (t) => {
  const directory = await folder(t)
  const target = join(directory, 'restored')
  writeFileSync(join(directory, 'random'), Buffer.alloc(50_000, 'x'))
  writeFileSync(join(directory, 'empty'), '')
  await assert.rejects(restoreSnapshot(join(directory, 'random'), target), {
    name: 'StoreOpenError',
    message: /random is not a snapshot of Typernetes/,
  })
  await assert.rejects(restoreSnapshot(join(directory, 'empty'), target), {
    name: 'ExplainedError',
    message: /give a file that `t8s snapshot save` wrote/,
  })
  await assert.rejects(restoreSnapshot(join(directory, 'absent'), target), {
    name: 'ExplainedError',
    message: /absent does not exist/,
  })
  await assert.rejects(restoreSnapshot(directory, target), { name: 'ExplainedError', message: /cannot be read/ })
  await (await twoKeys(join(directory, 'store'))).close()
  const file = join(directory, 'snapshot')
  await saveSnapshot(join(directory, 'store'), file)
  const whole = readFileSync(file)
  for (let length = whole.length - 1; length > 0; length--) {
    truncateSync(file, length)
    await assert.rejects(restoreSnapshot(file, target), { name: 'StoreOpenError' }, `cut at ${length}`)
  }
  for (let at = 0; at < whole.length; at++) {
    const flipped = Buffer.from(whole)
    flipped[at]! ^= 0x20
    writeFileSync(file, flipped)
    await assert.rejects(restoreSnapshot(file, target), { name: 'StoreOpenError' }, `changed at ${at}`)
  }
  assert.deepEqual(readdirSync(directory).sort(), ['empty', 'random', 'snapshot', 'store'])
})

test('saving fails for a directory without a store and for a missing target folder', async (t) => {
  const directory = await folder(t)
  await assert.rejects(saveSnapshot(directory, join(directory, 'snapshot')), {
    name: 'StoreOpenError',
    message: /holds no store/,
  })
  const store = await twoKeys(join(directory, 'store'))
  await assert.rejects(saveSnapshot(join(directory, 'store'), join(directory, 'no', 'snapshot')), {
    name: 'ExplainedError',
    message: /cannot write .*no such file or directory/,
  })
  await store.close()
  assert.deepEqual(readdirSync(directory), ['store'])
})
