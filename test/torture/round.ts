/** One round of torture: lets a process write to a store, kills it, and checks the data. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openLogStore } from '../../src/storage/log/index.ts'
import { loadLog } from '../../src/storage/log/segments/load.ts'
import { unfinishedSuffix } from '../../src/storage/log/segments/segment.ts'
import { restoreSnapshot } from '../../src/storage/log/snapshots/restore-snapshot.fixture.ts'
import { saveSnapshot } from '../../src/storage/log/snapshots/save.ts'
import { prefixRange, type Store } from '../../src/storage/store.ts'
import { countOf, pairKeys, pairs, tuning } from './pairs.ts'

export interface Torture {
  readonly directory: string
  /** The highest count of each pair that was acknowledged or read. */
  readonly acknowledged: Map<number, number>
  /** The newest revision that a watch has received, over all processes. */
  seen: number
  /** The newest acknowledged revision. */
  revision: number
  acknowledgements: number
  /** The number of the oldest file of the log, which shows how many were deleted. */
  oldest: number
  /** Number of kills during cleaning, during the creation of a file, or in a batch. */
  interrupted: number
}

export async function startTorture(): Promise<Torture> {
  return {
    directory: await mkdtemp(join(tmpdir(), 't8s-torture-')),
    acknowledged: new Map(),
    seen: 1,
    revision: 1,
    acknowledgements: 0,
    oldest: 1,
    interrupted: 0,
  }
}

export const endTorture = ({ directory }: Torture): Promise<void> => rm(directory, { recursive: true })

/**
 * Runs a writer for about `ms` after its first acknowledgement, calls `meanwhile`, kills the writer, and checks the
 * store. Throws if a promise was broken.
 */
export async function tortureRound(
  torture: Torture,
  ms: number,
  meanwhile?: (pid: number) => Promise<void>,
): Promise<void> {
  const writer = spawn(
    process.execPath,
    [join(import.meta.dirname, 'writer.ts'), storeOf(torture), String(torture.seen)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const exited = once(writer, 'exit')
  let errors = ''
  writer.stderr.on('data', (bytes) => {
    errors += bytes
  })
  let begun = () => {}
  const beginning = new Promise<void>((resolve) => {
    begun = resolve
  })
  let whole = ''
  const lines = createInterface({ input: writer.stdout })
  writer.stdout.on('data', (bytes: Buffer) => {
    whole = bytes.toString('latin1').slice(-1)
  })
  const output: string[] = []
  lines.on('line', (line) => {
    output.push(line)
    if (line.startsWith('ack ')) begun()
  })
  const read = once(lines, 'close')
  await Promise.race([beginning, exited])
  await Promise.all([meanwhile?.(writer.pid!), new Promise((resolve) => setTimeout(resolve, ms))])
  writer.kill('SIGKILL')
  const [, signal] = await exited
  await read
  assert.equal(
    signal,
    'SIGKILL',
    `the writer ended by itself: ${errors} ${output.filter((line) => line.startsWith('ended'))}`,
  )
  // The last line may be incomplete.
  if (whole !== '\n') output.pop()
  for (const line of output) record(torture, line)
  await judge(torture)
}

export const storeOf = ({ directory }: Torture): string => join(directory, 'store')

function record(torture: Torture, line: string): void {
  const [what, ...words] = line.split(' ')
  if (what === 'ack') {
    const [pair, count, revision] = words.map(Number) as [number, number, number]
    torture.acknowledged.set(pair, count)
    torture.revision = Math.max(torture.revision, revision)
    torture.acknowledgements++
  } else if (what === 'saw') {
    const revision = Number(words[0])
    assert.equal(revision, torture.seen + 1, 'the watch continued without a gap or a duplicate')
    torture.seen = revision
    const counts = new Set(words.slice(1).map((word) => word.split('=')[1]))
    counts.delete('deleted')
    assert.equal(counts.size, 1, `a transaction arrives complete: ${line}`)
    assert.equal(words.length, 4, line)
  } else if (what === 'ready') {
    assert.ok(Number(words[0]) >= torture.revision, `the revision went back from ${torture.revision} to ${words[0]}`)
    assert.ok(Number(words[0]) >= torture.seen, `the watch saw ${torture.seen}, which was not durable: ${line}`)
  } else assert.equal(what, 'compacted', line)
}

/** Counts kills that interrupted a change of the files. */
function inspect(torture: Torture): void {
  const log = loadLog(storeOf(torture), { flags: 'r' })!
  const isUnfinished = readdirSync(storeOf(torture)).some((name) => name.endsWith(unfinishedSuffix))
  // A version that was being moved occurs twice.
  const places = new Set(log.versions.map(({ key, revision }) => `${revision} ${key}`))
  if (log.end.kind !== 'whole' || isUnfinished || log.obsolete.length > 0 || places.size < log.versions.length)
    torture.interrupted++
  torture.oldest = log.segments[0]!.number
  for (const segment of log.segments) segment.close()
}

/** Opens the store after the kill and checks every promise. */
async function judge(torture: Torture): Promise<void> {
  inspect(torture)
  const store = await openLogStore({ directory: storeOf(torture), tuning })
  try {
    const revision = await store.currentRevision()
    assert.ok(revision >= torture.revision, `acknowledged revision ${torture.revision}, the store has ${revision}`)
    assert.ok(revision >= torture.seen, `the watch saw revision ${torture.seen}, the store has ${revision}`)
    const counts = await countsIn(store)
    for (const [pair, count] of counts) {
      const acknowledged = torture.acknowledged.get(pair) ?? 0
      assert.ok(count >= acknowledged, `pair ${pair}: ${acknowledged} was acknowledged, the store has ${count}`)
      assert.ok(
        count <= acknowledged + 1,
        `pair ${pair}: ${acknowledged} was acknowledged, the store has ${count}, although the writer waited`,
      )
      // Values that were read must not disappear either.
      torture.acknowledged.set(pair, count)
    }
    torture.revision = revision
    await replay(store, torture)
  } finally {
    await store.close()
  }
}

/** Returns the count of each pair. Throws if a transaction is incomplete. */
async function countsIn(store: Store): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  for (let pair = 0; pair < pairs; pair++) {
    const keys = pairKeys(pair)
    const [a, b, odd] = await Promise.all([store.get(keys.a), store.get(keys.b), store.get(keys.odd)])
    const count = a ? countOf(a.value) : 0
    assert.equal(b ? countOf(b.value) : 0, count, `pair ${pair} is torn`)
    assert.equal(a?.revision, b?.revision)
    assert.equal(
      odd ? countOf(odd.value) : undefined,
      count % 2 === 1 ? count : undefined,
      `pair ${pair} is torn: its odd key`,
    )
    counts.set(pair, count)
  }
  return counts
}

/** Checks that the history since the compacted revision leads from the state there to the current state. */
async function replay(store: Store, { seen }: Torture): Promise<void> {
  assert.ok(seen >= store.compactedRevision)
  const range = prefixRange('/')
  const from = Math.max(1, store.compactedRevision)
  const state = new Map(
    (await store.list({ ...range, revision: from })).entries.map((entry) => [entry.key, entry.revision]),
  )
  const current = await store.currentRevision()
  let newest = from
  await new Promise<void>((resolve, reject) => {
    if (newest === current) return resolve()
    store.watch(range, from, {
      events: (events) => {
        for (const { type, key, value, revision, previous } of events) {
          if (revision > newest + 1 || revision < newest)
            return reject(new Error(`history jumps from ${newest} to ${revision}`))
          if (previous?.revision !== state.get(key))
            return reject(new Error(`${key} at ${revision}: previous is ${previous?.revision}, was ${state.get(key)}`))
          newest = revision
          if (type === 'put') {
            countOf(value!)
            state.set(key, revision)
          } else state.delete(key)
        }
        if (newest === current) resolve()
      },
      end: reject,
    })
  })
  const { entries } = await store.list(range)
  assert.deepEqual(
    new Map(entries.map((entry) => [entry.key, entry.revision])),
    new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1))),
  )
}

/** Takes a snapshot of the running writer's store, restores it elsewhere and checks it. */
export async function snapshotRound(torture: Torture): Promise<void> {
  const file = join(torture.directory, 'snapshot')
  const restored = join(torture.directory, 'restored')
  await saveSnapshot(storeOf(torture), file)
  await restoreSnapshot(file, restored)
  const store = await openLogStore({ directory: restored })
  await countsIn(store)
  await store.close()
  await rm(file)
  await rm(restored, { recursive: true })
}
