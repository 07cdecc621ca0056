import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { StoreFailedError, StoreOpenError } from '../store.ts'
import { openLogStore } from './index.ts'
import { acquire, ownerFileName } from './owner.ts'

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 't8s-owner-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

const put = (key: string) => ({ conditions: [], operations: [{ key, value: Buffer.from('1') }] })
const ownerFile = (directory: string) => join(directory, ownerFileName)

/** Writes an owner file into the directory, as another process that takes it over would. */
function writeOwner(directory: string, owner: object) {
  const file = join(directory, 'owner-of-another')
  writeFileSync(file, '')
  writeFileSync(file, JSON.stringify({ inode: statSync(file).ino, ...owner }))
  renameSync(file, ownerFile(directory))
}

const linux = process.platform === 'linux' ? undefined : 'needs /proc'
const boot = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
const started = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[19]

test('opening an open store again fails with its directory and process', async (t) => {
  const directory = await folder(t)
  const store = await openLogStore({ directory })
  await assert.rejects(openLogStore({ directory }), (error) => {
    assert.ok(error instanceof StoreOpenError)
    assert.ok(error.message.includes(directory) && error.message.includes(`pid ${process.pid}`), error.message)
    return true
  })
  assert.equal((await store.commit(put('/a'))).committed, true)
  await store.close()
  assert.ok(!readdirSync(directory).includes(ownerFileName), 'closing a store releases it')
  const again = await openLogStore({ directory })
  assert.equal(await again.currentRevision(), 2)
  await again.close()
})

test('of several concurrent opens exactly one succeeds', async (t) => {
  const directory = await folder(t)
  const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => openLogStore({ directory })))
  const opened = attempts.filter((attempt) => attempt.status === 'fulfilled')
  assert.equal(opened.length, 1)
  await opened[0]!.value.close()
})

test('a store owned by a living process cannot be opened, and its directory is not changed', {
  skip: linux,
}, async (t) => {
  const directory = await folder(t)
  await (await openLogStore({ directory })).close()
  writeOwner(directory, { pid: process.ppid, started: started(process.ppid), boot: boot() })
  const names = readdirSync(directory)
  await assert.rejects(openLogStore({ directory }), {
    name: 'StoreOpenError',
    message: new RegExp(`in use by another process \\(pid ${process.ppid}\\): stop it`),
  })
  assert.deepEqual(readdirSync(directory), names)
})

test('a dead owner does not block: its pid was reused, the machine restarted or its file is corrupt', {
  skip: linux,
}, async (t) => {
  const directory = await folder(t)
  await (await openLogStore({ directory })).close()
  const living = { pid: process.ppid, started: started(process.ppid), boot: boot() }
  for (const dead of [{ started: '12345' }, { boot: 'an earlier one' }, { inode: 1 }, { pid: 2 ** 22 + 1 }]) {
    writeOwner(directory, { ...living, ...dead })
    await (await openLogStore({ directory })).close()
  }
  for (const nonsense of ['', '{', 'null', '[]']) {
    writeFileSync(ownerFile(directory), nonsense)
    await (await openLogStore({ directory })).close()
  }
})

test('a copy of a directory in use has no owner and is independent', async (t) => {
  const directory = await folder(t)
  const [original, copied] = [join(directory, 'original'), join(directory, 'copy')]
  const store = await openLogStore({ directory: original })
  await store.commit(put('/a'))
  await cp(original, copied, { recursive: true })
  const copy = await openLogStore({ directory: copied })
  await copy.commit(put('/b'))
  assert.equal(await store.get('/b'), undefined)
  await copy.close()
  await store.close()
})

test('one process takes over from a dead owner, and no other removes its owner file', {
  skip: linux,
}, async (t) => {
  const directory = await folder(t)
  writeOwner(directory, { pid: 2 ** 22 + 1, started: '1', boot: boot() })
  const owner = acquire(directory)
  assert.ok(owner.tookOver)
  for (let i = 0; i < 5; i++) assert.throws(() => acquire(directory), StoreOpenError)
  assert.ok(owner.holds())
  assert.deepEqual(readdirSync(directory), [ownerFileName])
  owner.release()
  assert.deepEqual(readdirSync(directory), [])
})

test('a process that lost the store to another cannot write any more but can read', async (t) => {
  const directory = await folder(t)
  const store = await openLogStore({ directory })
  await store.commit(put('/a'))
  const files = readdirSync(directory)
  writeOwner(directory, { pid: 1, started: '1', boot: '' })
  await assert.rejects(
    store.commit(put('/b')),
    (error) => error instanceof StoreFailedError && /taken over by another process/.test(error.message),
  )
  await assert.rejects(store.commit(put('/c')), StoreFailedError)
  await assert.rejects(store.compact(2), StoreFailedError)
  assert.match(store.problem ?? '', /taken over by another process; it refuses writes until it is opened again/)
  assert.equal(await store.get('/b'), undefined)
  assert.equal((await store.get('/a'))?.revision, 2)
  await store.close()
  assert.deepEqual(readdirSync(directory), files, 'the owner file of the other process stays')
})
