/**
 * The process that is killed: `writer.ts DIRECTORY AFTER`. Writes pairs of keys as fast as it can, compacts, watches
 * from revision AFTER, and prints results: `ready REVISION`, `ack PAIR COUNT REVISION`, `saw REVISION KEY=COUNT …`,
 * `compacted REVISION`.
 */
import { writeSync } from 'node:fs'
import { openLogStore } from '../../src/storage/log/index.ts'
import { type ChangeEvent, prefixRange } from '../../src/storage/store.ts'
import { countOf, paddedValue, pairKeys, pairs, tuning } from './pairs.ts'

const [directory = '', after = '1'] = process.argv.slice(2)
const store = await openLogStore({ directory, tuning })

/** Returns when the line is in the pipe, so that it survives the kill. */
function print(line: string): void {
  const bytes = Buffer.from(`${line}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      // The pipe is full, because its reader is busy.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

print(`ready ${await store.currentRevision()}`)

store.watch(prefixRange('/'), Number(after), {
  events: (events) => {
    const lines: string[] = []
    for (const [revision, changes] of Map.groupBy(events, (event: ChangeEvent) => event.revision)) {
      const shown = changes.map(({ type, key, value }) => `${key}=${type === 'delete' ? 'deleted' : countOf(value!)}`)
      lines.push(`saw ${revision} ${shown.join(' ')}`)
    }
    print(lines.join('\n'))
  },
  end: (error) => print(`ended ${error.message}`),
})

const range = prefixRange('/pair/')
const state = new Map((await store.list(range)).entries.map((entry) => [entry.key, entry]))

/** Each pair has one writer: both keys contain the count, a third key exists while it is odd. */
async function write(pair: number): Promise<never> {
  const { a, b, odd } = pairKeys(pair)
  let count = state.has(a) ? countOf(state.get(a)!.value) : 0
  let revision = state.get(a)?.revision ?? 0
  for (;;) {
    count++
    const value = paddedValue(count)
    const result = await store.commit({
      conditions: [
        { key: a, revision },
        { key: b, revision },
        { key: odd, revision: count % 2 === 0 ? revision : 0 },
      ],
      operations: [
        { key: a, value },
        { key: b, value: paddedValue(count) },
        count % 2 === 0 ? { key: odd, delete: true } : { key: odd, value: paddedValue(count) },
      ],
    })
    if (!result.committed) throw new Error(`conflict on pair ${pair} at count ${count}`)
    revision = result.revision
    print(`ack ${pair} ${count} ${revision}`)
  }
}

async function compact(): Promise<never> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    const revision = (await store.currentRevision()) - 300
    if (revision <= store.compactedRevision) continue
    await store.compact(revision)
    print(`compacted ${revision}`)
  }
}

await Promise.race([compact(), ...Array.from({ length: pairs }, (_, pair) => write(pair))])
