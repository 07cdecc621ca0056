/**
 * Measures the store on disk: commits, reads, lists, watch replay. `node bench/in-process/storage.ts [directory]`
 * measures the disk of the directory.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLogStore } from '../../src/storage/log/index.ts'
import { prefixRange, type Store } from '../../src/storage/store.ts'

const objectBytes = 2_600
const objects = 2_000
const pods = prefixRange('/registry/pods/')
const keyOf = (i: number) => `/registry/pods/default/pod-${String(i).padStart(5, '0')}-7d4b9`
const object = () => Buffer.alloc(objectBytes, 'x')

const directory = await mkdtemp(join(process.argv[2] ?? tmpdir(), 't8s-bench-'))
const store = await openLogStore({ directory })
try {
  const revisions = new Map<string, number>()
  const write = async (i: number) => {
    const key = keyOf(i % objects)
    const result = await store.commit({
      conditions: [{ key, revision: revisions.get(key) ?? 0 }],
      operations: [{ key, value: object() }],
    })
    if (!result.committed) throw new Error(`conflict on ${key}`)
    revisions.set(key, result.revision)
  }
  await commits('create, 16 writers', objects, 16, write)
  await commits('update, 16 writers', 40_000, 16, write)
  await commits('update, 16 writers, repeated', 40_000, 16, write)
  await commits('update, 64 writers', 40_000, 64, write)
  await commits('update, 1 writer', 2_000, 1, write)
  const watch = store.watch(pods, await store.currentRevision(), { events: () => {}, end: () => {} })
  await commits('update, 16 writers, watched', 40_000, 16, write)
  watch.stop()
  const lean = store.watch(pods, await store.currentRevision(), {
    wantsPrevious: false,
    events: () => {},
    end: () => {},
  })
  await commits('update, 16 writers, watched without previous', 40_000, 16, write)
  lean.stop()

  await repeat('get', 20_000, (i) => store.get(keyOf((i * 7) % objects)))
  const revision = await store.currentRevision()
  await repeat(`list of ${objects}, ${Math.round(revision / objects)} versions each`, 20, () => store.list(pods))
  await repeat('list of 500 of them, at an old revision', 20, () =>
    store.list({ ...pods, limit: 500, revision: Math.floor(revision / 2) }),
  )
  await replay(store)
  await compaction(store)
  await repeat(`list of ${objects}, compacted`, 40, () => store.list(pods))
  await repeat('get, compacted', 20_000, (i) => store.get(keyOf((i * 7) % objects)))
  await pagesWhileWriting(store)
  console.log(`memory ${Math.round(process.memoryUsage().rss / 1e6)} MB`)
} finally {
  await store.close()
  await rm(directory, { recursive: true })
}

async function commits(
  name: string,
  count: number,
  writers: number,
  write: (i: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const cpu = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  const start = performance.now()
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (next < count) await write(next++)
    }),
  )
  const seconds = (performance.now() - start) / 1000
  const { active } = performance.eventLoopUtilization(loop)
  const { user, system } = process.cpuUsage(cpu)
  console.log(
    `${name}: ${Math.round(count / seconds)} commits/s; per commit ${((active * 1000) / count).toFixed(1)} µs on ` +
      `the main thread, ${((user + system) / count).toFixed(1)} µs on all`,
  )
}

async function repeat(name: string, times: number, run: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times / 10; i++) await run(i)
  const start = performance.now()
  for (let i = 0; i < times; i++) await run(i)
  const each = (performance.now() - start) / times
  console.log(`${name}: ${each < 0.1 ? `${(each * 1000).toFixed(2)} µs` : `${each.toFixed(2)} ms`}`)
}

async function replay(store: Store): Promise<void> {
  const revision = await store.currentRevision()
  const after = Math.max(1, store.compactedRevision, revision - 50_000)
  const count = revision - after
  const blocked = stalls()
  const start = performance.now()
  await new Promise<void>((resolve, reject) => {
    let seen = 0
    store.watch(pods, after, {
      events: (events) => {
        seen += events.length
        if (seen === count) resolve()
      },
      end: reject,
    })
  })
  const seconds = (performance.now() - start) / 1000
  console.log(`watch replay: ${Math.round(count / seconds)} events/s; longest turn ${blocked()} ms`)
}

async function compaction(store: Store): Promise<void> {
  const revision = await store.currentRevision()
  const blocked = stalls()
  const start = performance.now()
  await store.compact(revision)
  console.log(
    `compaction of ${revision} revisions: ${Math.round(performance.now() - start)} ms; longest turn ${blocked()} ms`,
  )
}

async function pagesWhileWriting(store: Store): Promise<void> {
  const range = prefixRange('/registry/events/')
  const count = 10_000
  const key = (i: number) => `${range.start}${String(i).padStart(6, '0')}`
  const put = (i: number) => store.commit({ conditions: [], operations: [{ key: key(i % count), value: object() }] })
  for (let i = 0; i < count; i += 500) await Promise.all(Array.from({ length: 500 }, (_, j) => put(i + j)))
  const revision = await store.currentRevision()
  let writing = true
  let written = 0
  const writers = Array.from({ length: 16 }, async () => {
    while (writing) await put((written++ * 7919) % count)
  })
  let longest = 0
  const begin = performance.now()
  for (let start = range.start; ; ) {
    const before = performance.now()
    const { entries, more } = await store.list({ ...range, start, limit: 500, revision })
    longest = Math.max(longest, performance.now() - before)
    if (!more) break
    start = `${entries.at(-1)!.key}\0`
    await new Promise(setImmediate)
  }
  const total = performance.now() - begin
  writing = false
  await Promise.all(writers)
  console.log(
    `${count} keys in pages of 500 at an old revision while writers run: ${total.toFixed(0)} ms, longest page ` +
      `${longest.toFixed(1)} ms, ${written} commits meanwhile`,
  )
}

/** Returns a function that returns the longest turn of the event loop since now, in ms. */
function stalls(): () => string {
  let longest = 0
  let last = performance.now()
  let going = true
  const check = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (going) setImmediate(check)
  }
  setImmediate(check)
  return () => {
    going = false
    return longest.toFixed(1)
  }
}
