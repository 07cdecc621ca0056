/**
 * One process at a time owns a store. The owner's name stands in the store itself and is set in an LMDB transaction, which
 * excludes other processes, so that two starters cannot both win; and every commit is conditional on it, so that an owner
 * who was wrongly held for dead (in a container one cannot see into) can do no harm.
 */
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { Database } from 'lmdb'
import { StoreOpenError } from '../store.ts'

export const ownerKey = Buffer.from('owner')

interface Owner {
  readonly pid: number
  /** When the process started: with it, a pid that is used again is not taken for the owner. */
  readonly started: string
  /** The machine's boot; processes of an earlier one are dead. */
  readonly boot: string
  /** The file's inode: a copy of the file has no owner. */
  readonly inode: number
}

const maxToken = 2 ** 47

/** Makes this process the owner; the token is the LMDB version of the owner's record. Throws StoreOpenError if another one lives. */
export function acquire(meta: Database<Buffer, Uint8Array>, directory: string, file: string): number {
  const inode = statSync(file).ino
  const mine: Owner = { pid: process.pid, started: startOf(process.pid) ?? '', boot: bootId(), inode }
  const token = randomInt(1, maxToken)
  const holder = meta.transactionSync(() => {
    const owner = readOwner(meta)
    if (owner && owner.inode === inode && isAlive(owner)) return owner
    void meta.put(ownerKey, Buffer.from(JSON.stringify(mine)), token)
    return undefined
  })
  if (holder) throw heldError(directory, holder.pid)
  return token
}

/** Gives the store up, if it is still ours. */
export async function release(meta: Database<Buffer, Uint8Array>, token: number): Promise<void> {
  await meta.remove(ownerKey, token)
}

export const heldError = (directory: string, pid: number): StoreOpenError =>
  new StoreOpenError(
    `${directory} is in use by ${pid === process.pid ? 'this process' : 'another process'} (pid ${pid}): stop it, or choose another data directory`,
  )

function readOwner(meta: Database<Buffer, Uint8Array>): Owner | undefined {
  const bytes = meta.get(ownerKey)
  return bytes && (JSON.parse(bytes.toString()) as Owner)
}

const isAlive = ({ pid, started, boot }: Owner): boolean => boot === bootId() && startOf(pid) === started

const bootId = (): string => readIfThere('/proc/sys/kernel/random/boot_id') ?? ''

/** When a process started, in whatever unit the system has; undefined if there is no such process. */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // The name in parentheses may hold anything; the start time is the 22nd field, the state ("Z": ended, not yet reaped) the third.
    const fields = readIfThere(`/proc/${pid}/stat`)
      ?.replace(/^.*\) /s, '')
      .split(' ')
    return fields && fields[0] !== 'Z' && fields[0] !== 'X' ? fields[19] : undefined
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || undefined
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
