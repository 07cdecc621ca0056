/** Writes files so that a reader sees the old content or the new one, never a part, and never with wider rights than asked. */
import { randomBytes } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'

/** Replaces `file` at once; `mode` holds from the first byte. Throws what the file system throws. */
export function writeFileAtomically(file: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeFileSync(temporary, content, { mode, flag: 'wx', flush: true })
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
