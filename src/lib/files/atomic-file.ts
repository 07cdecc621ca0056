/** Writes files so that a reader sees the old content or the new one, never a part, and never with wider rights than asked. */
import { randomBytes } from 'node:crypto'
import { chownSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Replaces `file` at once; `mode` holds from the first byte, and so does `owner`, if one is given. Throws what the file system throws. */
export function writeFileAtomically(file: string, content: string | Uint8Array, mode: number, owner?: Owner): void {
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
