/** Saves a copy of the bytes that are dropped from the end of a log, and reports it. */
import { basename } from 'node:path'
import { reasonOf } from '../../../lib/explained-error.ts'
import { StoreOpenError } from '../../store.ts'
import { fileHeaderBytes } from '../layout.ts'
import type { LoadedLog } from '../segments/load.ts'
import { markPath } from './commit-mark.ts'
import { saveDroppedBytes } from './save-dropped-bytes.ts'
import { plural } from './verdict.ts'

type Ended = Pick<LoadedLog, 'segments' | 'end' | 'droppedBytes' | 'mark' | 'revision'>

/** Calls `notice` with a sentence for each problem. Throws StoreOpenError if bytes that may matter cannot be saved. */
export function reportEnd(
  directory: string,
  { segments, end, droppedBytes, mark, revision }: Ended,
  notice: (sentence: string) => void,
): void {
  const { path, end: position } = segments.at(-1)!
  const isNew = segments.length === 1 && position === fileHeaderBytes && droppedBytes === 0
  if (mark !== 'found' && !isNew)
    notice(
      `${markPath(directory)} ${marks[mark]}, so it is not known whether changes after revision ${revision} are ` +
        'missing; a new one was made',
    )
  if (end.kind === 'whole') return
  const known = end.kind === 'torn' && end.known
  const where = copyClause(path, position, droppedBytes, known)
  if (end.kind === 'lost') {
    notice(
      `changes that had been acknowledged are lost (${basename(path)}: ${end.why}): the store goes on with what ` +
        `it has up to revision ${revision}${where}`,
    )
    return
  }
  const bytes = `the last ${plural(droppedBytes, 'byte')} of ${path}`
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

/** Returns the clause that names the copy. Bytes that were never acknowledged need no copy. */
function copyClause(path: string, position: number, bytes: number, isOptional: boolean): string {
  if (bytes === 0) return ''
  try {
    return `; they are kept in ${saveDroppedBytes(path, position)}`
  } catch (error) {
    if (isOptional) return `; they could not be saved to a file: ${reasonOf(error)}`
    throw new StoreOpenError(
      `cannot save the damaged end of ${path} to a file (${reasonOf(error)}): the store was left as ` +
        'it was; free some space on its disk',
      {
        cause: error,
      },
    )
  }
}
