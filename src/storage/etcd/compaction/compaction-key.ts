/** The key by which API servers agree on compactions: its version counts intervals, its value is a revision. */
import { Compare_CompareTarget, KV } from '#protobuf/etcd-rpc_pb.js'
import { bufferOf } from '../../../lib/buffer-of.ts'
import type { Channel } from '../client/channel.ts'
import type { Exchange } from './compaction.ts'

const key = Buffer.from('compact_rev_key')
const timeoutMs = 10_000

/** Writes `revision` into the key if its version is the expected one. */
export async function exchangeCompaction(channel: Channel, expected: number, revision: number): Promise<Exchange> {
  const value = Buffer.from(String(revision))
  const { succeeded, header, responses } = await channel.call(
    KV.method.txn,
    {
      compare: [
        { target: Compare_CompareTarget.VERSION, key, targetUnion: { case: 'version', value: BigInt(expected) } },
      ],
      success: [{ request: { case: 'requestPut', value: { key, value } } }],
      failure: [{ request: { case: 'requestRange', value: { key } } }],
    },
    { timeoutMs, isSafe: false },
  )
  const current = Number(header!.revision)
  if (succeeded) return { isWon: true, version: expected + 1, revision: current, compacted: 0 }
  const response = responses[0]?.response
  const kv = response?.case === 'responseRange' ? response.value.kvs[0] : undefined
  const compacted = kv ? Number(bufferOf(kv.value)) : 0
  return {
    isWon: false,
    version: Number(kv?.version ?? 0n),
    revision: current,
    compacted: Number.isSafeInteger(compacted) ? compacted : 0,
  }
}
