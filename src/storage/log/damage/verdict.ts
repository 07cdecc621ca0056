/**
 * Compares the end of the newest segment with the commit mark, to distinguish an unfinished write from the
 * loss of acknowledged changes.
 */
import type { ScanEnd } from '../segments/scan.ts'
import type { CommitMark } from './commit-mark.ts'

/** The newest segment as found on disk. */
export interface NewestEnd extends ScanEnd {
  readonly number: number
  /** Size of the file in bytes. */
  readonly size: number
  /** The newest readable revision. */
  readonly revision: number
}

/**
 * `whole`: nothing is missing. `torn`: the bytes after the last whole batch were never acknowledged according to the
 * mark (`known`), or there is no mark. `lost`: acknowledged changes are missing or unreadable; `why` explains it.
 */
export type Verdict =
  | { readonly kind: 'whole' }
  | { readonly kind: 'torn'; readonly known: boolean }
  | { readonly kind: 'lost'; readonly why: string }

export function judge(newest: NewestEnd, mark: CommitMark | undefined): Verdict {
  const { number, position, why, size, revision } = newest
  if (mark && mark.segment > number)
    return { kind: 'lost', why: `the file that follows it is missing${revisionsBetween(revision, mark.revision)}` }
  if (why === 'index') return { kind: 'lost', why: 'the file that follows it is missing' }
  if (mark && mark.segment === number && mark.end > position) {
    const missing = mark.end - position
    const found = size < mark.end ? `it ends at byte ${size}` : `it cannot be read from byte ${position} on`
    return {
      kind: 'lost',
      why:
        `${found}, and ${plural(missing, 'byte')} up to byte ${mark.end} had been ` +
        `acknowledged${revisionsBetween(revision, mark.revision)}`,
    }
  }
  if (why === 'broken') return { kind: 'lost', why: `it cannot be read at byte ${position}, and whole writes follow` }
  return why === 'torn' ? { kind: 'torn', known: mark !== undefined } : { kind: 'whole' }
}

/** Records moved by the cleaner have no revisions of their own, so the result may be empty. */
function revisionsBetween(there: number, acknowledged: number): string {
  if (acknowledged <= there) return ''
  return acknowledged === there + 1 ? `: revision ${acknowledged}` : `: revisions ${there + 1} to ${acknowledged}`
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
