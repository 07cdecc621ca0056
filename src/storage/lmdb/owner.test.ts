import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { StoreFailedError, StoreOpenError } from '../store.ts'
import { openLmdbStore } from './index.ts'

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 't8s-owner-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

const put = (key: string) => ({ conditions: [], operations: [{ key, value: Buffer.from('1') }] })

/** Another process writes an owner into the store, as one would that takes it over. */
function writeOwner(directory: string, owner: object) {
  const script = `
    import { open } from '${import.meta.resolve('lmdb')}'
    const root = open({ path: process.argv[1], noSubdir: true, overlappingSync: false, encoding: 'binary', keyEncoding: 'binary' })
    root.openDB('meta', { encoding: 'binary', keyEncoding: 'binary', useVersions: true }).putSync(Buffer.from('owner'), Buffer.from(process.argv[2]), 42)
    await root.close()`
  execFileSync(process.execPath, ['--input-type=module', '--eval', script, join(directory, 'store.mdb'), JSON.stringify(owner)])
}

const linux = process.platform === 'linux' ? undefined : 'needs /proc'
const boot = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
const started = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[19]
const inode = (directory: string) => statSync(join(directory, 'store.mdb')).ino

test('a store that is open cannot be opened again: the error names the directory and the process', async (t) => {
  const directory = await folder(t)
  const store = await openLmdbStore({ directory })
  await assert.rejects(openLmdbStore({ directory }), (error) => {
    assert.ok(error instanceof StoreOpenError)
    assert.ok(error.message.includes(directory) && error.message.includes(`pid ${process.pid}`), error.message)
    return true
  })
  assert.equal((await store.commit(put('/a'))).committed, true)
  await store.close()
  const again = await openLmdbStore({ directory })
  assert.equal(again.revision, 2)
  await again.close()
})

test('of many who open at once exactly one gets the store', async (t) => {
  const directory = await folder(t)
  const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => openLmdbStore({ directory })))
  const opened = attempts.filter((attempt) => attempt.status === 'fulfilled')
  assert.equal(opened.length, 1)
  await opened[0]!.value.close()
})

test('a living process that holds the store is respected', { skip: linux }, async (t) => {
  const directory = await folder(t)
  await (await openLmdbStore({ directory })).close()
  writeOwner(directory, { pid: process.ppid, started: started(process.ppid), boot: boot(), inode: inode(directory) })
  await assert.rejects(openLmdbStore({ directory }), {
    name: 'StoreOpenError',
    message: new RegExp(`in use by another process \\(pid ${process.ppid}\\): stop it`),
  })
})

test('a dead holder does not block, even if its pid is used again, the machine was restarted, or the file is a copy', { skip: linux }, async (t) => {
  const directory = await folder(t)
  await (await openLmdbStore({ directory })).close()
  const living = { pid: process.ppid, started: started(process.ppid), boot: boot(), inode: inode(directory) }
  for (const dead of [{ started: '12345' }, { boot: 'an earlier one' }, { inode: 1 }, { pid: 2 ** 22 + 1 }]) {
    writeOwner(directory, { ...living, ...dead })
    await (await openLmdbStore({ directory })).close()
  }
})

test('who has lost the store to another process writes no more', async (t) => {
  const directory = await folder(t)
  const store = await openLmdbStore({ directory })
  await store.commit(put('/a'))
  writeOwner(directory, { pid: 1, started: '1', boot: '', inode: 1 })
  await assert.rejects(store.commit(put('/b')), (error) => error instanceof StoreFailedError && /taken over by another process/.test(error.message))
  await assert.rejects(store.commit(put('/c')), StoreFailedError)
  await assert.rejects(store.compact(2), StoreFailedError)
  assert.equal(await store.get('/b'), undefined)
  await store.close()
})
