/**
 * Undo records, in `FILE.t8s-undo` beside a kubeconfig: a YAML comment that describes the change, then the old text. A
 * record is a kubeconfig itself and equally secret.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'

/** The change of one file. */
export interface UndoRecord extends Change {
  /** The old text; undefined if the file did not exist. */
  readonly before: string | undefined
  /** Fingerprint of the new text, to detect later changes of other programs. */
  readonly resultFingerprint: string
}

/** A change of one file or of several. */
export interface Change {
  /** Equal in the records of all files that were changed together. */
  readonly id: string
  /** The command: `use dev`. */
  readonly what: string
  /** Time in ms since 1970. */
  readonly at: number
  /** The previous current context. */
  readonly previousContext: string | undefined
}

const title = '# t8s config undo '

export const undoFileOf = (file: string): string => `${file}.t8s-undo`

/** A hash of the text, or `none` for a missing file. */
export const fingerprint = (text: string | undefined): string =>
  text === undefined ? 'none' : createHash('sha256').update(text).digest('hex')

/** Formats a record. */
export function recordText({ before, ...header }: UndoRecord): string {
  return `${title}${JSON.stringify({ ...header, existed: before !== undefined })}\n${before ?? ''}`
}

/** Reads the record of `file`, if any. Throws an ExplainedError for an invalid record. */
export function readUndoRecord(file: string): UndoRecord | undefined {
  const record = undoFileOf(file)
  let text: string
  try {
    text = readFileSync(record, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined
    throw new ExplainedError(`cannot read ${record}: ${reasonOf(error)}`, { cause: error })
  }
  const end = text.indexOf('\n')
  try {
    if (!text.startsWith(title)) throw new Error('its first line is wrong')
    const { existed, ...header } = JSON.parse(text.slice(title.length, end)) as Omit<UndoRecord, 'before'> & {
      readonly existed: boolean
    }
    return { ...header, before: existed ? text.slice(end + 1) : undefined }
  } catch (error) {
    throw new ExplainedError(
      `${record} was not written by t8s (${reasonOf(error)}): remove it; the last change cannot be undone`,
      { cause: error },
    )
  }
}

/** The newest change of several files, with the records of the files that it changed. */
export function lastChange(
  files: readonly string[],
): { readonly change: Change; readonly records: ReadonlyMap<string, UndoRecord> } | undefined {
  const found = files.flatMap((file) => {
    const record = readUndoRecord(file)
    return record ? [[file, record] as const] : []
  })
  const [newest] = found.toSorted(([, a], [, b]) => b.at - a.at)
  if (!newest) return undefined
  return { change: newest[1], records: new Map(found.filter(([, { id }]) => id === newest[1].id)) }
}
