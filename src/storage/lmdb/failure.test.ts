import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { openLmdbStore } from './index.ts'

const range = { start: '/', end: '0' }

/** Fills the store until the disk refuses, then says what became of the commits. */
const script = `
  import { openLmdbStore } from '${import.meta.resolve('./index.ts')}'
  process.on('SIGXFSZ', () => {})
  process.on('unhandledRejection', (error) => { console.log('unhandled', error); process.exit(3) })
  const store = await openLmdbStore({ directory: process.argv[1] })
  const acknowledged = []
  const messages = new Set()
  const put = (key) => store.commit({ conditions: [], operations: [{ key, value: Buffer.alloc(3000) }] })
  const told = []
  store.watch({ start: '/', end: '0' }, 0, { events: (events) => told.push(...events.map((event) => event.key)), end: () => {} })
  let failed = 0
  for (let i = 0; failed === 0; i += 16) {
    const keys = Array.from({ length: 16 }, (_, j) => '/' + (i + j))
    await Promise.all(keys.map((key) => put(key).then(() => acknowledged.push(key), (error) => { failed++; messages.add(error.name + ': ' + error.message) })))
  }
  await put('/later').catch((error) => messages.add(error.name + ': ' + error.message))
  const { entries } = await store.list({ start: '/', end: '0' })
  await store.close()
  console.log(JSON.stringify({ acknowledged, failed, messages: [...messages], told: told.length, listed: entries.length }))`

test('when the disk refuses a write, commits under way and later ones fail, and what was acknowledged is there', {
  skip: process.platform === 'win32' && 'needs ulimit',
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 't8s-failure-'))
  try {
    const limited = ['-c', 'ulimit -f 4000; exec "$0" "$@"', process.execPath, '--input-type=module', '--eval', script, directory]
    const { stdout } = await promisify(execFile)('sh', limited)
    const { acknowledged, failed, messages, told, listed } = JSON.parse(stdout.trim().split('\n').at(-1)!)
    assert.ok(acknowledged.length > 100)
    assert.ok(failed > 0)
    assert.equal(messages.length, 1)
    assert.match(messages[0], /^StoreFailedError: the store in .* could not write: .+; it refuses writes until it is opened again$/)
    assert.equal(told, acknowledged.length)
    assert.equal(listed, acknowledged.length)

    const store = await openLmdbStore({ directory })
    const { entries } = await store.list(range)
    assert.deepEqual(entries.map((entry) => entry.key).sort(), acknowledged.sort())
    assert.equal((await store.commit({ conditions: [], operations: [{ key: '/on', value: Buffer.from('') }] })).committed, true)
    await store.close()
  } finally {
    await rm(directory, { recursive: true })
  }
})
