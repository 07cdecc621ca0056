/** `t8s migrate` and `t8s snapshot` with an etcd: a cluster moves there and back, and etcdctl reads it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { openEtcdStore } from '../../src/storage/etcd/index.ts'
import { openLogStore } from '../../src/storage/log/index.ts'
import type { Entry, Store } from '../../src/storage/store.ts'
import { prefixRange } from '../../src/storage/store.ts'
import { migrate, type Place, placeOf } from '../../src/tools/migrate/index.ts'
import { clientOf, json } from '../support/api-client.ts'
import { serve } from '../support/api-server.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'

const launcher = join(import.meta.dirname, '../../t8s')
const registry = prefixRange('/registry/')

async function t8s(...words: readonly string[]): Promise<{ code: number; output: string }> {
  try {
    const { stdout } = await promisify(execFile)(launcher, words)
    return { code: 0, output: stdout }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, output: stderr }
  }
}

/** An empty etcd, and a data directory with the objects of a server, one Event among them. */
async function start(t: TestContext) {
  const [member] = startEtcd(t)
  const folder = mkdtempSync(join(tmpdir(), 't8s-migrate-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const etcd = await waitFor('etcd serves', () => openEtcdStore({ servers: [member!.url] }))
  t.after(() => etcd.close())
  const data = join(folder, 'data')
  await t.test('objects are written to a data directory', async (t) => {
    const store = await openLogStore({ directory: join(data, 'store') })
    t.after(() => store.close())
    const client = clientOf(t, 'HTTP/2', await serve(t, store, { admission: { disabled: ['ServiceAccount'] } }))
    for (let i = 0; i < 200; i++) {
      const body = { metadata: { name: `c-${i}` }, data: { text: 'é'.repeat(i) } }
      const { status } = await client.request('POST', '/api/v1/namespaces/default/configmaps', { body })
      assert.equal(status, 201)
    }
    const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default', name: 'x', kind: 'Pod' } }
    assert.equal((await client.request('POST', '/api/v1/namespaces/default/events', { body: event })).status, 201)
  })
  return { folder, data, url: member!.url, etcd }
}

const values = async (store: Store): Promise<Map<string, string>> =>
  new Map((await store.list(registry)).entries.map(({ key, value }) => [key, value.toString()]))

async function inDirectory<T>(directory: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openLogStore({ directory: join(directory, 'store') })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

const newest = (entries: readonly Entry[]): number => Math.max(...entries.map(({ revision }) => revision))

test('a cluster moves from a data directory to etcd and back', { skip: withoutEtcd }, async (t) => {
  const { folder, data, url, etcd } = await start(t)
  const before = await inDirectory(data, async (store) => ({
    values: await values(store),
    revision: await store.currentRevision(),
  }))
  const moved = await t8s('migrate', '--from', data, '--to', url)
  assert.match(moved.output, /^copied \d+ entries, all are equal; the revision is \d+ now$/m)
  assert.deepEqual(await values(etcd), before.values)
  const { entries } = await etcd.list(registry)
  assert.ok(Math.min(...entries.map(({ revision }) => revision)) > before.revision, 'revisions go on')

  const again = await t8s('migrate', '--from', data, '--to', url)
  assert.equal(again.code, 1)
  assert.match(again.output, /it has keys below \/registry: it was left as it is/)

  const back = join(folder, 'back')
  assert.equal((await t8s('migrate', '--from', url, '--to', back)).code, 0)
  await inDirectory(back, async (store) => {
    assert.deepEqual(await values(store), before.values)
    assert.ok((await store.currentRevision()) >= newest(entries))
    const [event] = [...before.values.keys()].filter((key) => key.startsWith('/registry/events/'))
    assert.ok(await store.get(`deadline:${event}`), 'the event keeps its time to live')
  })
  await t.test('a server of the moved cluster serves it', async (t) => {
    const store = await openLogStore({ directory: join(back, 'store') })
    t.after(() => store.close())
    const client = clientOf(t, 'HTTP/2', await serve(t, store, { admission: { disabled: ['ServiceAccount'] } }))
    const answer = await client.request('GET', '/api/v1/namespaces/default/configmaps/c-199')
    assert.equal(json<{ data: { text: string } }>(answer).data.text, 'é'.repeat(199))
  })
})

test('a snapshot of etcd is restored to a data directory and to an etcd', { skip: withoutEtcd }, async (t) => {
  const { folder, data, url, etcd } = await start(t)
  assert.equal((await t8s('migrate', '--from', data, '--to', url)).code, 0)
  const file = join(folder, 'etcd.db')
  const saved = await t8s('snapshot', 'save', file, '--etcd-servers', url)
  assert.equal(saved.output, `saved to ${file}\n`)
  const { stdout } = await promisify(execFile)('etcdctl', ['snapshot', 'status', file, '--write-out=json'], {
    env: { ...process.env, ETCDCTL_API: '3' },
  })
  const revision = (JSON.parse(stdout) as { revision: number }).revision
  assert.equal(revision, await etcd.currentRevision())

  const restored = join(folder, 'restored')
  assert.equal((await t8s('snapshot', 'restore', file, '--data-dir', restored)).code, 0)
  const copy = await inDirectory(restored, async (store) => {
    assert.ok((await store.currentRevision()) > revision)
    return values(store)
  })
  assert.deepEqual(copy, await values(etcd))

  const [other] = startEtcd(t)
  const target = await waitFor('the other etcd serves', () => openEtcdStore({ servers: [other!.url] }))
  t.after(() => target.close())
  const own = join(folder, 'own.t8s')
  assert.equal((await t8s('snapshot', 'save', own, '--data-dir', data)).code, 0)
  assert.equal((await t8s('snapshot', 'restore', own, '--etcd-servers', other!.url)).code, 0)
  assert.deepEqual(await values(target), await inDirectory(data, values))
})

test('a cluster moves below another prefix of etcd and back', { skip: withoutEtcd }, async (t) => {
  const { folder, data, url, etcd } = await start(t)
  const before = await inDirectory(data, values)
  const prefix = '/clusters/one'
  const place: Place = { kind: 'etcd', options: { servers: [url], prefix, compactionMs: 0 }, prefix }
  await migrate(placeOf(data), place)
  assert.equal(await etcd.count(registry), 0)
  assert.equal(await etcd.count(prefixRange(`${prefix}/`)), before.size)
  const back = join(folder, 'back')
  await migrate(place, placeOf(back))
  assert.deepEqual(await inDirectory(back, values), before)
})

test('places and files that cannot be used are errors of one sentence', { skip: withoutEtcd }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-migrate-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [words, message] of [
    [
      ['migrate', '--from', join(folder, 'none'), '--to', join(folder, 'new')],
      /has no data of a cluster: check --from/,
    ],
    [['snapshot', 'restore', import.meta.filename, '--data-dir', join(folder, 'new')], /is not a snapshot of etcd/],
    [['snapshot', 'restore', import.meta.filename], /say where to restore it: --data-dir/],
    [['snapshot', 'restore', join(folder, 'none'), '--data-dir', join(folder, 'new')], /does not exist: give a file/],
  ] as const) {
    const { code, output } = await t8s(...words)
    assert.equal(code, 1, output)
    assert.match(output, message)
    assert.equal(output.trimEnd().split('\n').length, 1, output)
  }
})
