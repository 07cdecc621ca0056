/**
 * Files of a container's log: the current one, and those that were rotated away. A file is opened only if it is a
 * regular file inside the folders of logs, wherever symbolic links lead: pods may be able to write links there.
 */
import { createReadStream } from 'node:fs'
import { constants, type FileHandle, open, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { messageOf } from '../../lib/message-of.ts'
import { isArchived, rotatedNames, rotationTime } from './rotation/rotated-names.ts'

/** The size of the pieces that are read, in bytes. */
const chunkBytes = 64 * 1024
const newline = 0x0a

/** A part of the log. It is read from `position` on. */
export interface LogFile {
  /** Resolves with the next bytes, or undefined at the current end. They are valid until the next call. */
  read(): Promise<Buffer | undefined>
  /** The name in the log's folder, which changes with rotations. */
  name(): Promise<string>
  close(): Promise<void>
}

/** The error of a path that leads out of the folders of logs. */
const outside = (path: string): Error => new Error(`failed to open log file ${JSON.stringify(path)}: not a log file`)

/** Opens a regular file that is inside one of the folders `roots`. Rejects with an Error otherwise. */
export async function openInside(path: string, roots: readonly string[]): Promise<FileHandle> {
  // Without O_NONBLOCK, a pipe in place of the file would block.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const opened = await readlink(`/proc/self/fd/${handle.fd}`)
    const folders = await Promise.all(roots.map((root) => realpath(root).catch(() => root)))
    const isInside = folders.some((folder) => opened.startsWith(`${folder}/`))
    if (!isInside || !(await handle.stat()).isFile()) throw outside(path)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

export class PlainLogFile implements LogFile {
  readonly #handle: FileHandle
  readonly #buffer = Buffer.allocUnsafe(chunkBytes)
  #position = 0

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async read(): Promise<Buffer | undefined> {
    const { bytesRead } = await this.#handle.read(this.#buffer, 0, chunkBytes, this.#position)
    if (bytesRead === 0) {
      // A file that was cut off is read from its new start.
      if ((await this.#handle.stat()).size < this.#position) this.#position = 0
      return undefined
    }
    this.#position += bytesRead
    return this.#buffer.subarray(0, bytesRead)
  }

  async name(): Promise<string> {
    const path = await readlink(`/proc/self/fd/${this.#handle.fd}`)
    return basename(path.replace(/ \(deleted\)$/, ''))
  }

  /** True if the file has this path. */
  async isAt(path: string): Promise<boolean> {
    const [own, other] = await Promise.all([this.#handle.stat({ bigint: true }), stat(path, { bigint: true })])
    return own.ino === other.ino && own.dev === other.dev
  }

  /**
   * Positions the file before its last `count` lines; a line without an end at the end of the file is not counted.
   * Resolves with the number of lines from there on.
   */
  async seekTail(count: number): Promise<number> {
    const { size } = await this.#handle.stat()
    let found = 0
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - chunkBytes)
      const { bytesRead } = await this.#handle.read(this.#buffer, 0, end - start, start)
      const block = this.#buffer.subarray(0, bytesRead)
      for (let at = block.lastIndexOf(newline); at >= 0; at = at > 0 ? block.lastIndexOf(newline, at - 1) : -1) {
        if (found === count) {
          this.#position = start + at + 1
          return found
        }
        found++
      }
      end = start
    }
    this.#position = 0
    return found
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** A file that was compressed after its rotation. */
class ArchivedLogFile implements LogFile {
  readonly #name: string
  readonly #stream: Readable
  readonly #chunks: AsyncIterator<Buffer>

  constructor(path: string, handle: FileHandle) {
    this.#name = basename(path)
    const file = createReadStream(path, { fd: handle })
    const unpacked = createGunzip()
    file.on('error', (error) => unpacked.destroy(error))
    this.#stream = file.pipe(unpacked)
    this.#stream.on('close', () => file.destroy())
    this.#chunks = this.#stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  async read(): Promise<Buffer | undefined> {
    const { done, value } = await this.#chunks.next()
    return done ? undefined : value
  }

  async name(): Promise<string> {
    return this.#name
  }

  async close(): Promise<void> {
    this.#stream.destroy()
  }
}

/** Opens the current file of a log, or one that was rotated away. */
export async function openLogFile(path: string, roots: readonly string[]): Promise<LogFile> {
  const handle = await openInside(path, roots)
  return isArchived(path) ? new ArchivedLogFile(path, handle) : new PlainLogFile(handle)
}

/** Opens the current file. Its path has no symbolic links. Rejects with upstream's messages. */
export async function openCurrent(path: string, roots: readonly string[]): Promise<PlainLogFile> {
  try {
    return new PlainLogFile(await openInside(path, roots))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    throw new Error(`failed to open log file ${JSON.stringify(path)}: ${messageOf(error)}`)
  }
}

/** Resolves with the file that follows `file` in the log, or undefined if it is the current one. */
export async function openNext(file: LogFile, path: string, roots: readonly string[]): Promise<LogFile | undefined> {
  try {
    if (file instanceof PlainLogFile && (await file.isAt(path))) return undefined
    const time = rotationTime(await file.name())
    const folder = dirname(path)
    const newer = rotatedNames(basename(path), await readdir(folder)).find(
      (name) => time !== undefined && (rotationTime(name) ?? '') > time,
    )
    return await openLogFile(newer ? join(folder, newer) : path, roots)
  } catch (error) {
    // Between the rename and the creation of the new file there is none.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Resolves with the file before `file`, if it is not compressed. */
export async function openPrevious(
  file: LogFile,
  path: string,
  roots: readonly string[],
): Promise<PlainLogFile | undefined> {
  const time = rotationTime(await file.name())
  const folder = dirname(path)
  const older = rotatedNames(basename(path), await readdir(folder)).findLast(
    (name) => time === undefined || (rotationTime(name) ?? '') < time,
  )
  if (!older || isArchived(older)) return undefined
  return openInside(join(folder, older), roots).then(
    (handle) => new PlainLogFile(handle),
    () => undefined,
  )
}
