/** The key by which API servers agree on compactions: its version counts intervals, its value is a revision. */
import type { Channel } from '../client/channel.ts'
import { txnMethod } from '../messages/txn.ts'
import type { Exchange } from './compaction.ts'

const key = 'compact_rev_key'
const timeoutMs = 10_000

/** Writes `revision` into the key if its version is the expected one. */
export async function exchangeCompaction(channel: Channel, expected: number, revision: number): Promise<Exchange> {
  const { succeeded, current, found } = await channel.call(
    txnMethod,
    {
      conditions: [{ key, target: 'version', value: expected }],
      operations: [{ key, value: Buffer.from(String(revision)) }],
      otherwise: [key],
    },
    { timeoutMs, isSafe: false },
  )
  if (succeeded) return { isWon: true, version: expected + 1, revision: current, compacted: 0 }
  const [newest] = found
  const compacted = newest ? Number(newest.entry.value) : 0
  return {
    isWon: false,
    version: newest?.version ?? 0,
    revision: current,
    compacted: Number.isSafeInteger(compacted) ? compacted : 0,
  }
}
