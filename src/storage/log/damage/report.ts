/** Keeps a copy of the bytes that are left out at the end of a log, and says so. */
import { basename } from 'node:path'
import { reasonOf } from '../../../lib/explained-error.ts'
import { StoreOpenError } from '../../store.ts'
import { fileHeaderBytes } from '../layout.ts'
import type { LoadedLog } from '../segments/load.ts'
import { markPath } from './commit-mark.ts'
import { keepAside } from './keep-aside.ts'
import { plural } from './verdict.ts'

type Ended = Pick<LoadedLog, 'segments' | 'end' | 'leftOutBytes' | 'mark' | 'revision'>

/**
 * Calls `notice` with a sentence for each thing that is not as it should be. Throws StoreOpenError where bytes that may
 * matter cannot be kept.
 */
export function reportEnd(
  directory: string,
  { segments, end, leftOutBytes, mark, revision }: Ended,
  notice: (sentence: string) => void,
): void {
  const { path, end: position } = segments.at(-1)!
  const isNew = segments.length === 1 && position === fileHeaderBytes && leftOutBytes === 0
  if (mark !== 'found' && !isNew)
    notice(
      `${markPath(directory)} ${marks[mark]}, so it is not known whether changes after revision ${revision} are ` +
        'missing; a new one was made',
    )
  if (end.kind === 'whole') return
  const known = end.kind === 'torn' && end.known
  const where = kept(path, position, leftOutBytes, known)
  if (end.kind === 'lost') {
    notice(
      `changes that had been acknowledged are lost (${basename(path)}: ${end.why}): the store goes on with what ` +
        `it has up to revision ${revision}${where}`,
    )
    return
  }
  const bytes = `the last ${plural(leftOutBytes, 'byte')} of ${path}`
  notice(
    known
      ? `${bytes} are a write that had not been acknowledged when its process ended: they were left out${where}`
      : `${bytes} cannot be read and were left out${where}`,
  )
}

const marks = {
  missing: 'is missing, as in stores that an earlier release wrote',
  damaged: 'cannot be read',
  other: 'belongs to another store',
} as const

/** Says where the bytes are kept. Bytes that were never acknowledged need not be. */
function kept(path: string, position: number, bytes: number, isNeedless: boolean): string {
  if (bytes === 0) return ''
  try {
    return `; they are kept in ${keepAside(path, position)}`
  } catch (error) {
    if (isNeedless) return `; they could not be kept in a file of their own: ${reasonOf(error)}`
    throw new StoreOpenError(
      `cannot keep the damaged end of ${path} in a file of its own (${reasonOf(error)}): the store was left as ` +
        'it was; make room in its directory',
      {
        cause: error,
      },
    )
  }
}
