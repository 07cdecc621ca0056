/**
 * How the store lies in LMDB. Table `kv`: key, NUL, inverted revision, kind → value (a key's newest version comes first).
 * Table `log`: newest revision of a group commit → what it changed. Table `meta`: owner and compacted revision.
 */
import type { Database } from 'lmdb'

/** Grows when the layout changes. Stored in the root table under `formatKey`. */
export const formatVersion = 1
export const formatKey = Buffer.from('typernetes-store')
export const storeFileName = 'store.mdb'

/** One version of one key. The kind lies in the key, so that values are stored as they come. */
export interface VersionedKey {
  readonly key: string
  readonly revision: number
  readonly deleted: boolean
}

/** What we use of an LMDB table. Reads see the newest durable state; writes belong into `Tables.write`. */
export interface Table<K> {
  get(key: K): Buffer | undefined
  put(key: K, value: Uint8Array): unknown
  remove(key: K): unknown
  getKeys(options: { start?: K | Uint8Array }): Iterable<K>
  getRange(options: { start?: K | Uint8Array; end?: K | Uint8Array; reverse?: boolean; limit?: number }): Iterable<{ key: K; value: Buffer }>
}

/** NUL, seven bytes of inverted revision, one of kind. */
const versionBytes = 9
const invertedHigh = 0xffffff
const invertedLow = 0xffffffff
const twoTo32 = 0x100000000
const tombstone = 1

function writeVersion(target: Buffer, at: number, revision: number, deleted: boolean): number {
  const high = invertedHigh - Math.floor(revision / twoTo32)
  target[at] = 0
  target[at + 1] = high >>> 16
  target[at + 2] = high >>> 8
  target[at + 3] = high
  target.writeUInt32BE(invertedLow - (revision >>> 0), at + 4)
  target[at + 8] = deleted ? tombstone : 0
  return at + versionBytes
}

const versionedKeys = {
  writeKey(key: VersionedKey | Uint8Array, target: Buffer, at: number): number {
    if (key instanceof Uint8Array) {
      target.set(key, at)
      return at + key.length
    }
    return writeVersion(target, at + target.write(key.key, at), key.revision, key.deleted)
  },
  readKey(source: Buffer, start: number, end: number): VersionedKey {
    const at = end - versionBytes
    const high = invertedHigh - ((source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!)
    return {
      key: source.toString('utf8', start, at),
      revision: high * twoTo32 + (invertedLow - source.readUInt32BE(at + 4)),
      deleted: source[at + 8] === tombstone,
    }
  },
}

const revisionKeys = {
  writeKey(revision: number | Uint8Array, target: Buffer, at: number): number {
    if (revision instanceof Uint8Array) {
      target.set(revision, at)
      return at + revision.length
    }
    target.writeUInt32BE(Math.floor(revision / twoTo32), at)
    return target.writeUInt32BE(revision >>> 0, at + 4)
  },
  readKey: (source: Buffer, start: number): number => source.readUInt32BE(start) * twoTo32 + source.readUInt32BE(start + 4),
}

/** Options of the tables, for `openDB`. */
export const kvOptions = { encoding: 'binary' as const, keyEncoder: versionedKeys }
export const logOptions = { encoding: 'binary' as const, keyEncoder: revisionKeys }
export const metaOptions = { encoding: 'binary' as const, keyEncoding: 'binary' as const, useVersions: true }

/** lmdb's types know nothing of key encoders. */
export const asTable = <K>(database: Database<Buffer, Uint8Array>): Table<K> => database as unknown as Table<K>

/** Before all versions of keys that are not below `key`. Keys hold no NUL, so those at or after `a\0…` are those after `a`. */
export function lowerBound(key: string): Uint8Array {
  const nul = key.indexOf('\0')
  if (nul >= 0) return afterVersions(key.slice(0, nul))
  return key === '' ? Uint8Array.of(1) : Buffer.from(key)
}

/** After all versions of `key`, before those of all greater keys. */
export const afterVersions = (key: string): Uint8Array => Buffer.from(`${key}\x01`)

/** Before the newest version of `key` that is not newer than `revision`. */
export function atRevision(key: string, revision: number): Uint8Array {
  const target = Buffer.allocUnsafe(key.length * 3 + versionBytes)
  return target.subarray(0, writeVersion(target, target.write(key, 0), revision, false))
}

/** One change as the log keeps it. `previousRevision` is 0 where the key was absent. */
export interface LoggedChange {
  readonly key: string
  readonly revision: number
  readonly deleted: boolean
  readonly previousRevision: number
}

/** Revision (8 bytes), previous revision (8), kind (1), length of the key (2). */
const changeHeaderBytes = 19

export function encodeChanges(changes: readonly LoggedChange[]): Buffer {
  let size = 0
  for (const { key } of changes) size += changeHeaderBytes + key.length * 3
  const target = Buffer.allocUnsafe(size)
  let at = 0
  for (const { key, revision, deleted, previousRevision } of changes) {
    target.writeDoubleBE(revision, at)
    target.writeDoubleBE(previousRevision, at + 8)
    target[at + 16] = deleted ? tombstone : 0
    const length = target.write(key, at + changeHeaderBytes)
    target.writeUInt16BE(length, at + 17)
    at += changeHeaderBytes + length
  }
  return target.subarray(0, at)
}

/** The changes of one log record that are newer than `after`. */
export function* decodeChanges(record: Buffer, after: number): Generator<LoggedChange> {
  let at = 0
  while (at < record.length) {
    const revision = record.readDoubleBE(at)
    const end = at + changeHeaderBytes + record.readUInt16BE(at + 17)
    if (revision > after) {
      yield {
        key: record.toString('utf8', at + changeHeaderBytes, end),
        revision,
        deleted: record[at + 16] === tombstone,
        previousRevision: record.readDoubleBE(at + 8),
      }
    }
    at = end
  }
}
