/**
 * One process at a time owns a store: its file `owner` says which. A dead owner's file is moved away, and link(2) lets
 * one of those who want to follow win. An owner looks at its file before and after each write: one that was wrongly
 * held for dead (in a container one cannot see into) writes no more.
 */
import { execFileSync } from 'node:child_process'
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
import { StoreOpenError } from '../store.ts'

export const ownerFileName = 'owner'

interface OwnerRecord {
  readonly pid: number
  /** When the process started: with it, a pid that is used again is not taken for the owner. */
  readonly started: string
  /** The machine's boot; processes of an earlier one are dead. */
  readonly boot: string
  /** The inode of the file itself: a copy of the directory has no owner. */
  readonly inode: number
}

const maxAttempts = 20

export class Owner {
  readonly #file: string
  /** Kept open, so that its inode is not used again. */
  readonly #fd: number
  readonly #inode: number
  /** Whether the one before did not give the store up: it crashed, or lives where it cannot be seen. */
  readonly tookOver: boolean

  constructor(file: string, fd: number, inode: number, tookOver: boolean) {
    this.#file = file
    this.#fd = fd
    this.#inode = inode
    this.tookOver = tookOver
  }

  /** Whether the store is still this process's. Cheap. */
  holds(): boolean {
    return statSync(this.#file, { throwIfNoEntry: false })?.ino === this.#inode
  }

  /** Gives the store up, if it is still ours. */
  release(): void {
    if (this.holds()) rmSync(this.#file, { force: true })
    closeSync(this.#fd)
  }
}

/** Makes this process the owner of a directory. Throws StoreOpenError if another one lives. */
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
        started: startOf(process.pid) ?? '',
        boot: bootId(),
        inode,
      } satisfies OwnerRecord),
    )
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (linked(unique, file)) return new Owner(file, fd, inode, tookOver)
      const found = readOwner(file)
      if (found === 'gone') continue
      if (found.record && isAlive(found.record, found.inode)) throw heldError(directory, found.record.pid)
      tookOver = moveAway(file, found.inode) || tookOver
    }
    throw new StoreOpenError(`${directory} is being opened by several processes at once: try again`)
  } catch (error) {
    closeSync(fd)
    throw error
  } finally {
    rmSync(unique, { force: true })
  }
}

export const heldError = (directory: string, pid: number): StoreOpenError =>
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

/** Moves a dead owner's file away. Whoever took the store over in between gets its file back. */
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

function readOwner(file: string): { readonly inode: number; readonly record: OwnerRecord | undefined } | 'gone' {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'gone'
    throw error
  }
  try {
    return { inode: fstatSync(fd).ino, record: parseRecord(readFileSync(fd, 'utf8')) }
  } finally {
    closeSync(fd)
  }
}

/** Undefined for what no owner wrote. */
function parseRecord(text: string): OwnerRecord | undefined {
  try {
    return JSON.parse(text) as OwnerRecord
  } catch {
    return undefined
  }
}

const isAlive = ({ pid, started, boot, inode }: OwnerRecord, fileInode: number): boolean =>
  inode === fileInode && boot === bootId() && startOf(pid) === started

const bootId = (): string => readIfThere('/proc/sys/kernel/random/boot_id') ?? ''

/** When a process started, in whatever unit the system has; undefined if there is no such process. */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // The name in parentheses may hold anything; the start time is the 22nd field, the state ("Z": ended, not yet
    // reaped) the third.
    const fields = readIfThere(`/proc/${pid}/stat`)
      ?.replace(/^.*\) /s, '')
      .split(' ')
    return fields && fields[0] !== 'Z' && fields[0] !== 'X' ? fields[19] : undefined
  }
  try {
    return (
      execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim() || undefined
    )
  } catch {
    return undefined
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
