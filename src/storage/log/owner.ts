/**
 * The `owner` file gives a store to one process at a time. The file of a dead owner is moved away, and link(2) lets one
 * of the waiting processes win. An owner checks its file before and after each write, so that a process wrongly taken
 * for dead (in a container that others cannot see into) stops writing.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../lib/explained-error.ts'
import { bootId, startTimeOf } from '../../lib/process/start-time.ts'
import { StoreOpenError } from '../store.ts'

export const ownerFileName = 'owner'

interface OwnerRecord {
  readonly pid: number
  /** Start time of the process. Distinguishes the owner from another process with a reused pid. */
  readonly started: string
  /** Boot id of the machine. Processes of an earlier boot are dead. */
  readonly boot: string
  /** Inode of the owner file. It differs in a copy of the directory, which has no owner. */
  readonly inode: number
}

const maxAttempts = 20

export class Owner {
  readonly #file: string
  /** Open while this process owns the store, so that the inode is not reused. */
  readonly #fd: number
  readonly #inode: number
  /** True if the previous owner did not release the store: it crashed, or runs where it cannot be seen. */
  readonly tookOver: boolean

  constructor(file: string, fd: number, inode: number, tookOver: boolean) {
    this.#file = file
    this.#fd = fd
    this.#inode = inode
    this.tookOver = tookOver
  }

  /** Returns true if this process still owns the store. Cheap. */
  holds(): boolean {
    return statSync(this.#file, { throwIfNoEntry: false })?.ino === this.#inode
  }

  /** Releases the store, if this process still owns it. */
  release(): void {
    if (this.holds()) rmSync(this.#file, { force: true })
    closeSync(this.#fd)
  }
}

/** Makes this process the owner of a directory. Throws StoreOpenError if another owner is alive. */
export function acquire(directory: string): Owner {
  const file = join(directory, ownerFileName)
  const unique = `${file}-${randomBytes(6).toString('hex')}`
  const fd = openSync(unique, 'wx', 0o600)
  const { ino: inode } = fstatSync(fd)
  let tookOver = false
  try {
    writeSync(
      fd,
      JSON.stringify({
        pid: process.pid,
        started: startTimeOf(process.pid) ?? '',
        boot: bootId(),
        inode,
      } satisfies OwnerRecord),
    )
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (linked(unique, file)) return new Owner(file, fd, inode, tookOver)
      const found = readOwner(file)
      if (found === 'missing') continue
      if (found.record && isAlive(found.record, found.inode)) throw inUseError(directory, found.record.pid)
      tookOver = moveAway(file, found.inode) || tookOver
    }
    throw new StoreOpenError(`${directory} is being opened by several processes at the same time: try again`)
  } catch (error) {
    closeSync(fd)
    throw error
  } finally {
    rmSync(unique, { force: true })
  }
}

export const inUseError = (directory: string, pid: number): StoreOpenError =>
  new StoreOpenError(
    `${directory} is in use by ${pid === process.pid ? 'this process' : 'another process'} (pid ${pid}): stop ` +
      'it, or choose another data directory',
  )

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Moves a dead owner's file away. If another process has taken the store over in between, its file is restored. */
function moveAway(file: string, inode: number): boolean {
  const away = `${file}-${randomBytes(6).toString('hex')}`
  try {
    renameSync(file, away)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
  const moved = statSync(away).ino === inode
  if (!moved) linked(away, file)
  rmSync(away, { force: true })
  return moved
}

function readOwner(file: string): { readonly inode: number; readonly record: OwnerRecord | undefined } | 'missing' {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'missing'
    throw error
  }
  try {
    return { inode: fstatSync(fd).ino, record: parseRecord(readFileSync(fd, 'utf8')) }
  } finally {
    closeSync(fd)
  }
}

/** Returns undefined for text that is not an owner record. */
function parseRecord(text: string): OwnerRecord | undefined {
  try {
    return JSON.parse(text) as OwnerRecord
  } catch {
    return undefined
  }
}

const isAlive = ({ pid, started, boot, inode }: OwnerRecord, fileInode: number): boolean =>
  inode === fileInode && boot === bootId() && startTimeOf(pid) === started
