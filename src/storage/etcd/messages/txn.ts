/** `etcdserverpb.KV/Txn`: writes of keys under conditions. */
import type { KeyValue } from './key-value.ts'
import { readHeader } from './key-value.ts'
import { MessageReader } from './message-reader.ts'
import { fieldBytes, MessageWriter } from './message-writer.ts'
import { readRange } from './range.ts'
import type { UnaryMethod } from './unary-method.ts'

/** A key must have this version or revision of its last change; 0: it must not exist. */
export interface TxnCondition {
  readonly key: string
  readonly target: 'version' | 'revision'
  readonly value: number
}

export interface TxnOperation {
  readonly key: string
  /** Absent: the key is deleted. */
  readonly value?: Uint8Array | undefined
  /** The lease of the value; 0 for none. */
  readonly lease?: bigint
}

export interface TxnRequest {
  readonly conditions: readonly TxnCondition[]
  readonly operations: readonly TxnOperation[]
  /** Keys that are read if a condition is not true. */
  readonly otherwise: readonly string[]
}

export interface TxnResponse {
  readonly succeeded: boolean
  /** The revision of etcd. */
  readonly current: number
  /** Results of `otherwise`, by its order. */
  readonly found: readonly (KeyValue | undefined)[]
}

/** Of `Compare`: the number of the target, and of the field with its value. `EQUAL` is the default. */
const targets = { version: { number: 0, field: 4 }, revision: { number: 2, field: 6 } } as const

export const txnMethod: UnaryMethod<TxnRequest, TxnResponse> = {
  path: '/etcdserverpb.KV/Txn',
  encode: (request) => {
    const { conditions, operations, otherwise } = request
    const writer = new MessageWriter(maxBytesOf(request))
    for (const key of otherwise.toReversed()) writeRead(writer, key)
    for (const operation of operations.toReversed()) writeOperation(writer, operation)
    for (const condition of conditions.toReversed()) writeCondition(writer, condition)
    return writer.finish()
  },
  decode: (bytes) => readTxn(new MessageReader(bytes)),
}

function maxBytesOf({ conditions, operations, otherwise }: TxnRequest): number {
  let bytes = 0
  for (const { key } of conditions) bytes += 4 * fieldBytes + Buffer.byteLength(key)
  for (const { key, value } of operations) bytes += 5 * fieldBytes + Buffer.byteLength(key) + (value?.length ?? 0)
  for (const key of otherwise) bytes += 3 * fieldBytes + Buffer.byteLength(key)
  return bytes
}

function writeCondition(writer: MessageWriter, { key, target, value }: TxnCondition): void {
  const end = writer.at
  const { number, field } = targets[target]
  // A member of a oneof is written even if it is 0.
  writer.member(field, value)
  writer.text(3, key)
  writer.number(2, number)
  writer.message(1, end)
}

function writeOperation(writer: MessageWriter, { key, value, lease = 0n }: TxnOperation): void {
  const end = writer.at
  writer.bigint(3, lease)
  if (value) writer.bytes(2, value)
  writer.text(1, key)
  writer.message(value ? 2 : 3, end)
  writer.message(2, end)
}

function writeRead(writer: MessageWriter, key: string): void {
  const end = writer.at
  writer.text(1, key)
  writer.message(1, end)
  writer.message(3, end)
}

function readTxn(message: MessageReader): TxnResponse {
  const found: (KeyValue | undefined)[] = []
  let current = 0
  let succeeded = false
  for (let field = message.next(); field > 0; field = message.next())
    switch (field) {
      case 1:
        current = readHeader(message.message())
        break
      case 2:
        succeeded = message.boolean()
        break
      case 3:
        if (succeeded) message.skip()
        else found.push(readFound(message.message()))
        break
      default:
        message.skip()
    }
  return { succeeded, current, found }
}

function readFound(message: MessageReader): KeyValue | undefined {
  let found: KeyValue | undefined
  for (let field = message.next(); field > 0; field = message.next())
    if (field === 1) found = readRange(message.message()).found[0]
    else message.skip()
  return found
}
