/**
 * What a change of a kubeconfig leaves beside it, in `FILE.t8s-undo`: the text before, below one line of YAML comment
 * that says what was done. It is a kubeconfig itself, as secret as the other.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'

/** What was done to one file. */
export interface UndoRecord extends Change {
  /** The text before; undefined if there was no file. */
  readonly before: string | undefined
  /** Tells the text that the change left: what others have changed since is not undone. */
  readonly left: string
}

/** What was done, to one file or several of them. */
export interface Change {
  /** The same in the records of all files that changed together. */
  readonly id: string
  /** What somebody asked for: `use dev`. */
  readonly what: string
  /** When, in ms since 1970. */
  readonly at: number
  /** The context that was current before the one that is now. */
  readonly previousContext: string | undefined
}

const title = '# t8s config undo '

export const undoFileOf = (file: string): string => `${file}.t8s-undo`

/** Tells one text from another without keeping it; a file that is not there is one, too. */
export const fingerprint = (text: string | undefined): string =>
  text === undefined ? 'none' : createHash('sha256').update(text).digest('hex')

/** The text of a record. */
export function recordText({ before, ...header }: UndoRecord): string {
  return `${title}${JSON.stringify({ ...header, existed: before !== undefined })}\n${before ?? ''}`
}

/**
 * The record beside `file`; undefined if nothing was changed there. Throws an ExplainedError for one that cannot be
 * read.
 */
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
    if (!text.startsWith(title)) throw new Error('its first line is another')
    const { existed, ...header } = JSON.parse(text.slice(title.length, end)) as Omit<UndoRecord, 'before'> & {
      readonly existed: boolean
    }
    return { ...header, before: existed ? text.slice(end + 1) : undefined }
  } catch (error) {
    throw new ExplainedError(
      `${record} is not what t8s wrote (${reasonOf(error)}): remove it, and nothing can be undone there`,
      { cause: error },
    )
  }
}

/** The newest change of several files, with the record of each that it changed. */
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
