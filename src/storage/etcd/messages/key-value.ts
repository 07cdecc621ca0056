/** `mvccpb.KeyValue` and `etcdserverpb.ResponseHeader` of etcd's API. */
import type { Entry } from '../../store.ts'
import type { MessageReader } from './message-reader.ts'

export interface KeyValue {
  readonly entry: Entry
  /** The number of writes since the key was created. */
  readonly version: number
}

const none = Buffer.alloc(0)

export function readKeyValue(message: MessageReader): KeyValue {
  let key = ''
  let value: Buffer = none
  let revision = 0
  let version = 0
  for (let field = message.next(); field > 0; field = message.next())
    switch (field) {
      case 1:
        key = message.text()
        break
      case 3:
        revision = message.number()
        break
      case 4:
        version = message.number()
        break
      case 5:
        value = message.bytes()
        break
      default:
        message.skip()
    }
  return { entry: { key, value, revision }, version }
}

/** Returns the revision of etcd. */
export function readHeader(message: MessageReader): number {
  let revision = 0
  for (let field = message.next(); field > 0; field = message.next())
    if (field === 3) revision = message.number()
    else message.skip()
  return revision
}
