/** The state in a snapshot of etcd, as its maintenance API and `etcdctl snapshot save` give it. */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { fromBinary } from '@bufbuild/protobuf'
import { StoredKeySchema, StoredLeaseSchema } from '#protobuf/etcd-snapshot_pb.js'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import { deadlineEntry } from '../../expiry/expiry.ts'
import { compareKeys } from '../../key-order.ts'
import type { StoreState } from '../../state.ts'
import { type Entry, StoreOpenError } from '../../store.ts'
import { BoltFile } from './bolt-file.ts'

const hashBytes = 32
const sectorBytes = 512
const portionBytes = 1024 * 1024
/** A revision is two numbers of 8 bytes with `_` between them; a deletion has one byte more. */
const revisionBytes = 17
const entriesPerPortion = 500

export interface EtcdSnapshot {
  readonly state: StoreState
  close(): void
}

/** Options of what is read. */
export interface EtcdSnapshotOptions {
  /** Keys below it are read; they get the prefix `/registry/`. Default: `/registry/`. */
  readonly prefix?: string
  /** Seconds since 1970, from which times to live count. Default: now. */
  readonly now?: () => number
}

const registry = '/registry/'

/** The newest version of a key. */
interface Found {
  readonly revision: number
  readonly value: Buffer
  readonly lease: bigint
}

/**
 * Reads all keys into memory. Deadlines of leases become entries of their own, as other drivers store them. Throws
 * StoreOpenError if the file is not a whole snapshot, ExplainedError if it cannot be read.
 */
export function openEtcdSnapshot(
  path: string,
  { prefix = registry, now = () => Date.now() / 1000 }: EtcdSnapshotOptions = {},
): EtcdSnapshot {
  try {
    verify(path)
    const file = new BoltFile(path)
    try {
      const { revision, found } = readKeys(file, prefix)
      const ttls = new Map(Array.from(file.items('lease'), ({ value }) => ttlIn(value)))
      const state = { revision, portions: () => portionsOf(found, ttls, now()) }
      return { state, close: () => file.close() }
    } catch (error) {
      file.close()
      throw error
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    throw new ExplainedError(`${path} cannot be read (${reasonOf(error)}): give a snapshot of etcd`, { cause: error })
  }
}

/** Compares the checksum that follows the database, if there is one: files of a member's folder have none. */
function verify(path: string): void {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    if (size % sectorBytes !== hashBytes) return
    const hash = createHash('sha256')
    const portion = Buffer.allocUnsafe(portionBytes)
    for (let at = 0; at < size - hashBytes; ) {
      const read = readSync(fd, portion, 0, Math.min(portionBytes, size - hashBytes - at), at)
      hash.update(portion.subarray(0, read))
      at += read
    }
    const expected = Buffer.alloc(hashBytes)
    readSync(fd, expected, 0, hashBytes, size - hashBytes)
    if (!hash.digest().equals(expected))
      throw new StoreOpenError(`${path} is damaged (its checksum is another): take another snapshot`)
  } finally {
    closeSync(fd)
  }
}

/** The last versions of all keys below the prefix, and the newest revision of any key. */
function readKeys(file: BoltFile, prefix: string): { revision: number; found: Map<string, Found> } {
  const found = new Map<string, Found>()
  let revision = 1
  for (const { key, value } of file.items('key')) {
    revision = Math.max(revision, revisionIn(key))
    const record = fromBinary(StoredKeySchema, value)
    const stored = Buffer.from(record.key).toString()
    if (!stored.startsWith(prefix)) continue
    const name = registry + stored.slice(prefix.length)
    if (key.length > revisionBytes) found.delete(name)
    else found.set(name, { revision: revisionIn(key), value: Buffer.from(record.value), lease: record.lease })
  }
  // The last deletion may have been compacted.
  for (const { key, value } of file.items('meta'))
    if (key.toString().endsWith('CompactRev')) revision = Math.max(revision, revisionIn(value))
  return { revision, found }
}

/** Of a lease, its number and its seconds. */
function ttlIn(value: Buffer): [bigint, number] {
  const { id, ttl, remainingTtl } = fromBinary(StoredLeaseSchema, value)
  return [id, Number(remainingTtl || ttl)]
}

const revisionIn = (bytes: Buffer): number => Number(bytes.readBigUInt64BE(0))

async function* portionsOf(
  found: ReadonlyMap<string, Found>,
  ttls: ReadonlyMap<bigint, number>,
  now: number,
): AsyncGenerator<readonly Entry[]> {
  const deadlines: Entry[] = []
  let entries: Entry[] = []
  for (const [key, { revision, value, lease }] of [...found].sort(([a], [b]) => compareKeys(a, b))) {
    entries.push({ key, revision, value })
    const ttl = ttls.get(lease)
    if (ttl !== undefined) deadlines.push(deadlineEntry(key, revision, now + ttl))
    if (entries.length < entriesPerPortion) continue
    yield entries
    entries = []
  }
  yield entries
  yield deadlines
}
