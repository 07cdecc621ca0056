/**
 * The commit mark: the end of the acknowledged part of the log, in a file beside the segments. Truncated data looks
 * like an unfinished write; the mark distinguishes the two. It is written after a batch is durable and before its
 * transactions are acknowledged, and is not flushed: after a power loss it may be older than the log, which is
 * harmless. It is never newer than what the disk has confirmed as durable.
 */
import { closeSync, constants, fsync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { errorCode } from '../../../lib/explained-error.ts'

export interface CommitMark {
  /** The random number of the store. */
  readonly store: number
  /** The segment of the newest acknowledged batch, and the offset at which the batch ends. */
  readonly segment: number
  readonly end: number
  /** The newest acknowledged revision. */
  readonly revision: number
}

export const markPath = (directory: string): string => join(directory, 'commit-mark')

const magic = Buffer.from('t8s-mark')
const markBytes = 40

export function encodeMark({ store, segment, end, revision }: CommitMark, target = Buffer.alloc(markBytes)): Buffer {
  magic.copy(target)
  target.writeUInt32LE(segment, 12)
  target.writeDoubleLE(store, 16)
  target.writeDoubleLE(end, 24)
  target.writeDoubleLE(revision, 32)
  target.writeUInt32LE(crc32(target.subarray(12)), 8)
  return target
}

/** Returns undefined if the bytes are not a whole, valid mark. */
export function decodeMark(bytes: Buffer): CommitMark | undefined {
  if (bytes.length !== markBytes || !bytes.subarray(0, magic.length).equals(magic)) return undefined
  if (crc32(bytes.subarray(12)) !== bytes.readUInt32LE(8)) return undefined
  return {
    segment: bytes.readUInt32LE(12),
    store: bytes.readDoubleLE(16),
    end: bytes.readDoubleLE(24),
    revision: bytes.readDoubleLE(32),
  }
}

/** Reads the mark of a directory. Stores of early releases have none. */
export function readMark(directory: string): CommitMark | 'missing' | 'damaged' {
  let fd: number
  try {
    fd = openSync(markPath(directory), 'r')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'missing'
    throw error
  }
  try {
    // One byte more, since a longer file is not a mark.
    const bytes = Buffer.alloc(markBytes + 1)
    return decodeMark(bytes.subarray(0, readSync(fd, bytes))) ?? 'damaged'
  } finally {
    closeSync(fd)
  }
}

/** Writes the mark of an open store. */
export class MarkFile {
  readonly #path: string
  readonly #fd: number
  readonly #bytes = Buffer.alloc(markBytes)
  #failed = false

  /** Creates the file if it is missing. */
  constructor(directory: string) {
    this.#path = markPath(directory)
    this.#fd = openSync(this.#path, constants.O_WRONLY | constants.O_CREAT, 0o600)
  }

  /** Overwrites the mark. If that fails, the old mark stays valid and the store keeps accepting writes; warns once. */
  write(mark: CommitMark): void {
    try {
      writeSync(this.#fd, encodeMark(mark, this.#bytes), 0, markBytes, 0)
    } catch (error) {
      if (this.#failed) return
      this.#failed = true
      const why = error instanceof Error ? error.message : String(error)
      process.emitWarning(
        `${this.#path} cannot be written (${why}): acknowledged changes that are lost later may not be noticed`,
        'StoreWarning',
      )
    }
  }

  /** Flushes the mark, ignoring errors, and closes the file. */
  async close(): Promise<void> {
    await promisify(fsync)(this.#fd).catch(() => undefined)
    closeSync(this.#fd)
  }
}
