/** The store when members of etcd end, hang or are full. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { openEtcdStore } from '../../src/storage/etcd/index.ts'
import {
  type ChangeEvent,
  CommitUnknownError,
  CompactedError,
  prefixRange,
  type Store,
  StoreFailedError,
} from '../../src/storage/store.ts'
import { type EtcdMember, startEtcd, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'

const skip = withoutEtcd

const put = (store: Store, key: string, value: string, revision?: number) =>
  store.commit({
    conditions: revision === undefined ? [] : [{ key, revision }],
    operations: [{ key, value: Buffer.from(value) }],
  })

async function open(t: TestContext, members: readonly EtcdMember[]): Promise<Store> {
  const store = await openEtcdStore({ servers: members.map(({ url }) => url), pollMs: 500 })
  t.after(() => store.close())
  return store
}

/** Increments the number in a key until `isOver`; returns the increments that were acknowledged and those unknown. */
async function increment(store: Store, key: string, isOver: () => boolean) {
  let acknowledged = 0
  let unknown = 0
  while (!isOver()) {
    try {
      const entry = await store.get(key)
      const result = await put(store, key, `${Number(entry?.value ?? 0) + 1}`, entry?.revision ?? 0)
      if (result.committed) acknowledged++
    } catch (error) {
      if (error instanceof CommitUnknownError) unknown++
      else assert.ok(error instanceof StoreFailedError, String(error))
    }
  }
  return { acknowledged, unknown }
}

function follow(store: Store) {
  const events: ChangeEvent[] = []
  const watch = store.watch(prefixRange('/n/'), 1, {
    wantsPrevious: false,
    events: (more) => events.push(...more),
    end: (error) => assert.fail(error),
  })
  return { watch, events }
}

test('no acknowledged write and no event is lost while members are killed in turn', { skip }, async (t) => {
  const members = startEtcd(t, { members: 3 })
  const store = await open(t, members)
  const followed = follow(store)
  let isOver = false
  const keys = ['/n/a', '/n/b', '/n/c', '/n/d']
  const writers = keys.map((key) => increment(store, key, () => isOver))
  for (const member of members) {
    const before = await store.currentRevision()
    await waitFor('writes', async () => (await store.currentRevision()) > before + 20)
    await member.kill()
    const without = await waitFor('a read', () => store.currentRevision().catch(() => undefined))
    await waitFor('writes without it', async () => (await store.currentRevision()) > without + 20)
    member.start()
  }
  isOver = true
  const counts = await Promise.all(writers)
  const last = await store.currentRevision()
  await waitFor('all events', () => followed.watch.position >= last)
  followed.watch.stop()
  for (const [i, key] of keys.entries()) {
    const value = Number((await store.get(key))!.value)
    const { acknowledged, unknown } = counts[i]!
    assert.ok(
      value >= acknowledged && value <= acknowledged + unknown,
      `${key}: ${value} of ${acknowledged}, ${unknown}`,
    )
    const seen = followed.events.filter((event) => event.key === key).map((event) => Number(event.value))
    assert.deepEqual(
      seen,
      Array.from({ length: value }, (_, n) => n + 1),
    )
  }
})

test('a store whose etcd hangs or has ended reports it, and recovers by itself', { skip }, async (t) => {
  const [member] = startEtcd(t)
  const store = await open(t, [member!])
  await put(store, '/n/a', '1')
  const followed = follow(store)
  member!.signal('SIGSTOP')
  const waiting = put(store, '/n/a', '2', (await followedRevision(followed)) ?? 2).then(
    (result) => result.committed,
    (error: Error) => error,
  )
  await waitFor('the problem', () => store.problem !== undefined)
  assert.match(store.problem!, /^etcd at unix:\/\/.* did not answer within \d+ ms$/)
  member!.signal('SIGCONT')
  await waitFor('the end of the problem', () => store.problem === undefined)
  const outcome = await waiting
  assert.ok(outcome === true || outcome instanceof CommitUnknownError, String(outcome))
  const value = Number((await store.get('/n/a'))!.value)
  assert.equal(value, 2)

  await member!.kill()
  await waitFor('the problem', () => store.problem !== undefined)
  await assert.rejects(store.get('/n/a'), StoreFailedError)
  member!.start()
  await waitFor('the end of the problem', () => store.problem === undefined)
  assert.ok((await put(store, '/n/a', '3')).committed)
  assert.deepEqual(
    followed.events.map((event) => Number(event.value)),
    [1, 2, 3],
  )
  followed.watch.stop()
})

const followedRevision = ({ events }: ReturnType<typeof follow>) =>
  waitFor('the first event', () => events[0]?.revision)

test('a full etcd rejects writes with the remedy, and the store recovers after it', { skip }, async (t) => {
  const [member] = startEtcd(t, { flags: [`--quota-backend-bytes=${16 * 1024 * 1024}`] })
  const store = await open(t, [member!])
  const large = 'x'.repeat(1_000_000)
  await assert.rejects(async () => {
    for (let i = 0; i < 40; i++) await put(store, '/n/large', large)
  }, /the database of etcd is full \(alarm NOSPACE\).*`etcdctl alarm disarm`/)
  assert.match(store.problem!, /NOSPACE/)
  assert.equal((await store.get('/n/large'))!.value.length, large.length)
  await store.compact(await store.currentRevision())
  const etcdctl = (...args: readonly string[]) =>
    execFileSync('etcdctl', [`--endpoints=${member!.url}`, ...args], { env: { ...process.env, ETCDCTL_API: '3' } })
  etcdctl('defrag')
  etcdctl('alarm', 'disarm')
  await waitFor('the end of the problem', () => store.problem === undefined)
  assert.ok((await put(store, '/n/small', '1')).committed)
})

test('servers of one etcd agree on compactions', { skip }, async (t) => {
  const [member] = startEtcd(t)
  const servers = [member!.url]
  const stores = await Promise.all([1, 2].map(() => openEtcdStore({ servers, compactionMs: 300 })))
  t.after(() => Promise.all(stores.map((store) => store.close())))
  const { revision } = await waitFor('a compaction', async () => {
    await put(stores[0]!, '/n/a', '1')
    const entry = await stores[0]!.get('compact_rev_key')
    return Number(entry?.value) > 0 ? { revision: Number(entry!.value) } : undefined
  })
  await waitFor('that both know it', () => stores.every((store) => store.compactedRevision >= revision))
})

test('a reader of history notices that a compaction took previous values', { skip }, async (t) => {
  const members = startEtcd(t)
  const [store, other] = await Promise.all([open(t, members), open(t, members)])
  const range = prefixRange('/n/')
  const operations = Array.from({ length: 6 }, (_, i) => ({ key: `/n/${i}`, value: Buffer.alloc(512, 'x') }))
  // etcd sends 1000 revisions at a time. The first fill the reader, the next the buffers of its connection.
  await Promise.all(Array.from({ length: 2_100 }, () => store.commit({ conditions: [], operations })))
  const revision = await store.currentRevision()
  let { events, through } = await store.changes(range, 1, { events: 1, bytes: 1 })
  await other.compact(revision)
  let isCompacted = false
  for (const seen = new Set<string>(); through < revision && !isCompacted; ) {
    for (const { key, previous } of events) {
      assert.equal(previous !== undefined, seen.has(key), `the previous value of ${key} at ${through}`)
      seen.add(key)
    }
    try {
      ;({ events, through } = await store.changes(range, through, { events: 1, bytes: 1 }))
    } catch (error) {
      assert.ok(error instanceof CompactedError, String(error))
      isCompacted = true
    }
  }
  assert.ok(isCompacted, 'etcd sent all previous values before the compaction')
})
