/** Writes files atomically: readers see the old or the new content, and the mode is never wider than requested. */
import { randomBytes } from 'node:crypto'
import { chownSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * Replaces `file` atomically; `mode` and `owner` are set before it gets its name. Throws errors of the file system, and
 * an Error for devices and pipes, so that `/dev/null` is not replaced.
 */
export function writeFileAtomically(file: string, content: string | Uint8Array, mode: number, owner?: Owner): void {
  checkReplaceable(file)
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeFileSync(temporary, content, { mode, flag: 'wx', flush: true })
    if (owner) chownSync(temporary, owner.uid, owner.gid)
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/**
 * Replaces `file` without waiting for the disk: the content survives the end of this process; after a failure of the
 * machine the file may be empty. Throws errors of the file system.
 */
export function replaceFile(file: string, content: string, mode: number): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeFileSync(temporary, content, { mode, flag: 'wx' })
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function checkReplaceable(file: string): void {
  const present = lstatSync(file, { throwIfNoEntry: false })
  if (present && !present.isFile() && !present.isSymbolicLink() && !present.isDirectory())
    throw new Error('it is a device or a pipe')
}
