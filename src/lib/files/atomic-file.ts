/**
 * Writes files so that a reader sees the old content or the new one, never a part, and never with wider rights than
 * asked.
 */
import { randomBytes } from 'node:crypto'
import { chownSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * Replaces `file` at once; `mode` holds from the first byte, and so does `owner`, if one is given. Throws what the file
 * system throws, and for devices and pipes: `/dev/null` has to stay.
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

function checkReplaceable(file: string): void {
  const present = lstatSync(file, { throwIfNoEntry: false })
  if (present && !present.isFile() && !present.isSymbolicLink() && !present.isDirectory())
    throw new Error('it is a device or a pipe')
}
