/** `etcdserverpb.Watch/Watch`: a stream of requests for watches, and of their events. */
import type { ChangeEvent } from '../../store.ts'
import { type KeyValue, readHeader, readKeyValue } from './key-value.ts'
import { MessageReader } from './message-reader.ts'
import { fieldBytes, MessageWriter } from './message-writer.ts'

export const watchPath = '/etcdserverpb.Watch/Watch'

export interface WatchCreation {
  readonly key: string
  /** A NUL: all keys from `key` on. */
  readonly rangeEnd: string
  readonly startRevision: number
  readonly wantsPrevious: boolean
}

export interface WatchResponse {
  /** The revision of etcd. */
  readonly current: number
  readonly watchId: number
  readonly created: boolean
  readonly canceled: boolean
  /** The revision to which etcd was compacted, if the watch is canceled because of that; otherwise 0. */
  readonly compactRevision: number
  readonly events: readonly WatchEvent[]
}

export interface WatchEvent {
  readonly change: ChangeEvent
  /** The number of writes since the key was created. */
  readonly version: number
}

const deleted = 1

export function encodeCreation({ key, rangeEnd, startRevision, wantsPrevious }: WatchCreation): Buffer {
  const writer = new MessageWriter(5 * fieldBytes + Buffer.byteLength(key) + Buffer.byteLength(rangeEnd))
  const end = writer.at
  writer.number(6, Number(wantsPrevious))
  writer.number(3, startRevision)
  writer.text(2, rangeEnd)
  writer.text(1, key)
  writer.message(1, end)
  return writer.finish()
}

export function encodeCancellation(watchId: number): Buffer {
  const writer = new MessageWriter(2 * fieldBytes)
  const end = writer.at
  writer.number(1, watchId)
  writer.message(2, end)
  return writer.finish()
}

/** The values of the events share the memory of `bytes`. */
export function decodeWatchResponse(bytes: Buffer): WatchResponse {
  const message = new MessageReader(bytes)
  const events: WatchEvent[] = []
  let current = 0
  let watchId = 0
  let created = false
  let canceled = false
  let compactRevision = 0
  for (let field = message.next(); field > 0; field = message.next())
    switch (field) {
      case 1:
        current = readHeader(message.message())
        break
      case 2:
        watchId = message.number()
        break
      case 3:
        created = message.boolean()
        break
      case 4:
        canceled = message.boolean()
        break
      case 5:
        compactRevision = message.number()
        break
      case 11:
        events.push(readEvent(message.message()))
        break
      default:
        message.skip()
    }
  return { current, watchId, created, canceled, compactRevision, events }
}

function readEvent(message: MessageReader): WatchEvent {
  let type = 0
  let kv: KeyValue | undefined
  let previous: KeyValue | undefined
  for (let field = message.next(); field > 0; field = message.next())
    switch (field) {
      case 1:
        type = message.number()
        break
      case 2:
        kv = readKeyValue(message.message())
        break
      case 3:
        previous = readKeyValue(message.message())
        break
      default:
        message.skip()
    }
  if (!kv) throw new Error('etcd sent an event without a key')
  const { key, value, revision } = kv.entry
  const change: ChangeEvent =
    type === deleted
      ? { type: 'delete', key, revision, previous: previous?.entry }
      : { type: 'put', key, value, revision, previous: previous?.entry }
  return { change, version: kv.version }
}
