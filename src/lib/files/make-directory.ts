/**
 * Makes directories. Node's own `mkdir({ recursive: true })` never returns where the file system answers ENOENT for
 * good, as /proc does.
 */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../explained-error.ts'

/**
 * Makes `path` and its missing parents with these rights; a directory that is there stays as it is. Throws what the
 * file system throws.
 */
export function makeDirectory(path: string, mode: number): void {
  if (isDirectory(path)) return
  const parent = dirname(path)
  if (parent !== path && statSync(parent, { throwIfNoEntry: false }) === undefined) makeDirectory(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (errorCode(error) !== 'EEXIST' || !isDirectory(path)) throw error
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
