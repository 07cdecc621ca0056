/** `etcdserverpb.KV/Range`: reads of keys. */
import { type KeyValue, readHeader, readKeyValue } from './key-value.ts'
import { MessageReader } from './message-reader.ts'
import { fieldBytes, MessageWriter } from './message-writer.ts'
import type { UnaryMethod } from './unary-method.ts'

export interface RangeRequest {
  readonly key: string
  /** Absent: the one key. A NUL: all keys from `key` on. */
  readonly rangeEnd?: string
  readonly limit?: number
  /** Absent or 0: the newest. */
  readonly revision?: number
  readonly countOnly?: boolean
}

export interface RangeResponse {
  /** The revision of etcd. */
  readonly current: number
  readonly found: readonly KeyValue[]
  readonly more: boolean
  readonly count: number
}

export const rangeMethod: UnaryMethod<RangeRequest, RangeResponse> = {
  path: '/etcdserverpb.KV/Range',
  encode: ({ key, rangeEnd = '', limit = 0, revision = 0, countOnly = false }) => {
    const writer = new MessageWriter(5 * fieldBytes + Buffer.byteLength(key) + Buffer.byteLength(rangeEnd))
    writer.number(9, Number(countOnly))
    writer.number(4, revision)
    writer.number(3, limit)
    writer.text(2, rangeEnd)
    writer.text(1, key)
    return writer.finish()
  },
  decode: (bytes) => readRange(new MessageReader(bytes)),
}

export function readRange(message: MessageReader): RangeResponse {
  const found: KeyValue[] = []
  let current = 0
  let more = false
  let count = 0
  for (let field = message.next(); field > 0; field = message.next())
    switch (field) {
      case 1:
        current = readHeader(message.message())
        break
      case 2:
        found.push(readKeyValue(message.message()))
        break
      case 3:
        more = message.boolean()
        break
      case 4:
        count = message.number()
        break
      default:
        message.skip()
    }
  return { current, found, more, count }
}
