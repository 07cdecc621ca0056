import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { storeSuite } from '../suite/index.ts'
import { Environment, openEnvironment, type Tables } from './environment.ts'
import { saveSnapshot } from './snapshot.ts'
import { LmdbStore } from './store.ts'

/** An LMDB that fails every third write, as it does when it has lost track of its free pages. */
class FlakyEnvironment extends Environment {
  #writes = 0

  protected override attempt(change: (tables: Tables) => void): Promise<boolean> {
    if (++this.#writes % 3 === 0) return Promise.reject(Object.assign(new Error('MDB_BAD_TXN: Transaction must abort'), { code: -30782 }))
    return super.attempt(change)
  }
}

const quiet = process.emitWarning
const warnings: string[] = []

async function openFlaky() {
  process.emitWarning = (warning: string | Error) => {
    warnings.push(String(warning))
  }
  const directory = await mkdtemp(join(tmpdir(), 't8s-flaky-'))
  const store = new LmdbStore(await openEnvironment(directory, FlakyEnvironment))
  return {
    directory,
    store,
    cleanup: async () => {
      process.emitWarning = quiet
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
}

storeSuite('the store on an LMDB that now and then has to be opened again', openFlaky)

test('a snapshot that is being taken when LMDB has to be opened again is whole', async () => {
  const { directory, store, cleanup } = await openFlaky()
  const put = (i: number) => store.commit({ conditions: [], operations: [{ key: `/k/${i % 500}`, value: Buffer.alloc(3_000, i) }] })
  for (let i = 0; i < 2_000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => put(i + j)))
  let copying = true
  const copies = Promise.all([1, 2, 3].map((i) => saveSnapshot(directory, join(directory, `copy-${i}`)))).finally(() => {
    copying = false
  })
  for (let i = 0; copying; i++) await put(i)
  await copies
  assert.ok(warnings.some((warning) => /is opened again, since LMDB failed: MDB_BAD_TXN/.test(warning)))
  await cleanup()
})
