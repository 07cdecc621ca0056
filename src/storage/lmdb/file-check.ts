/**
 * Looks at a store's file before LMDB maps it: LMDB trusts what it maps, and a damaged file would crash the process.
 * Reads only. The layout is that of LMDB's data format 2.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { StoreOpenError } from '../store.ts'

const magic = 0xbeefc0de
const dataFormat = 2
const headerBytes = 24
const metaBytes = 144
const metaPage = 0x08
const treePage = 0x03
/** `md_root` of a table without entries. */
const noPage = 0xffffffffffffffffn
/** LMDB need not write free pages at the end of the file. */
const unwrittenPages = 64n

interface Meta {
  readonly pageSize: number
  readonly lastPage: bigint
  readonly transaction: bigint
  /** Of the table of free pages and of the root table. */
  readonly roots: readonly bigint[]
}

/** Whether there is data in the file. Throws StoreOpenError if it cannot be a store's file, or not a whole one. */
export function checkStoreFile(file: string): 'absent' | 'present' {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'absent'
    throw new StoreOpenError(`cannot read ${file}: ${(error as Error).message}`, { cause: error })
  }
  try {
    const { size } = fstatSync(handle)
    // The process that was to write it ended before it could.
    if (size === 0) return 'absent'
    const read = (at: number, length: number) => {
      const target = Buffer.alloc(length)
      return target.subarray(0, readSync(handle, target, 0, length, at))
    }
    const first = readMeta(read(0, headerBytes + metaBytes))
    if (!first) throw foreign(file)
    const second = readMeta(read(first.pageSize, headerBytes + metaBytes))
    if (!second || second.pageSize !== first.pageSize) throw damaged(file, 'its header is broken')
    const { pageSize, lastPage, roots } = second.transaction > first.transaction ? second : first
    const pages = BigInt(Math.ceil(size / pageSize))
    if (pages + unwrittenPages <= lastPage) throw damaged(file, `it should have ${(lastPage + 1n) * BigInt(pageSize)} bytes and has ${size}`)
    for (const root of roots) {
      if (root === noPage) continue
      const page = read(Number(root) * pageSize, headerBytes)
      if (page.length < headerBytes || page.readBigUInt64LE(0) !== root || (page.readUInt16LE(18) & treePage) === 0) throw damaged(file, 'its index is broken')
    }
    return 'present'
  } finally {
    closeSync(handle)
  }
}

function readMeta(page: Buffer): Meta | undefined {
  if (page.length < headerBytes + metaBytes) return undefined
  const meta = page.subarray(headerBytes)
  const pageSize = meta.readUInt32LE(24)
  const known = (page.readUInt16LE(18) & metaPage) !== 0 && meta.readUInt32LE(0) === magic && (meta.readUInt32LE(4) & 0xffff) === dataFormat
  if (!known || pageSize < 512 || pageSize > 0x10000 || (pageSize & (pageSize - 1)) !== 0) return undefined
  return {
    pageSize,
    lastPage: meta.readBigUInt64LE(120),
    transaction: meta.readBigUInt64LE(128),
    roots: [meta.readBigUInt64LE(64), meta.readBigUInt64LE(112)],
  }
}

/** The file holds something else. */
export const foreign = (file: string): StoreOpenError =>
  new StoreOpenError(`${file} is not a store of Typernetes: it was left as it is; choose another data directory or move the file away`)

const damaged = (file: string, why: string): StoreOpenError =>
  new StoreOpenError(`${file} is damaged (${why}): it was left as it is; restore a snapshot into another data directory with \`t8s snapshot restore\``)
