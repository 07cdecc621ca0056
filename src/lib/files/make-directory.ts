/**
 * Creates directories. Node's `mkdir({ recursive: true })` never returns if the file system always fails with ENOENT,
 * as /proc does.
 */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../explained-error.ts'

/**
 * Creates `path` and its missing parents with `mode`; does not change existing directories. Throws errors of the file
 * system.
 */
export function makeDirectory(path: string, mode: number): void {
  if (isDirectory(path)) return
  const parent = dirname(path)
  if (parent !== path && statSync(parent, { throwIfNoEntry: false }) === undefined) makeDirectory(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have created it.
    if (errorCode(error) !== 'EEXIST' || !isDirectory(path)) throw error
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
