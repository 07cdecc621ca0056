/** Entries and changes of the store from messages of etcd. */
import { type Event, Event_EventType, type KeyValue } from '#protobuf/etcd-rpc_pb.js'
import { bufferOf } from '../../lib/buffer-of.ts'
import type { ChangeEvent, Entry } from '../store.ts'

/** Returns the entry of a key and its value. The value shares the memory of the message. */
export function entryOf({ key, value, modRevision }: KeyValue): Entry {
  return { key: bufferOf(key).toString(), value: bufferOf(value), revision: Number(modRevision) }
}

export function changeOf({ type, kv, prevKv }: Event): ChangeEvent {
  const { key, value, revision } = entryOf(kv!)
  const previous = prevKv && entryOf(prevKv)
  return type === Event_EventType.DELETE
    ? { type: 'delete', key, revision, previous }
    : { type: 'put', key, value, revision, previous }
}

/**
 * True if an event must have a previous value and does not: etcd reads them when it sends an event, and sends none once
 * the revision before has been compacted.
 */
export const lacksPrevious = ({ type, kv, prevKv }: Event): boolean =>
  prevKv === undefined && (type === Event_EventType.DELETE || kv!.version !== 1n)
