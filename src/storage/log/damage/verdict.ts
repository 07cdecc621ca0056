/**
 * Compares the end of the newest segment with the commit mark: is a write that never ended missing there, or
 * acknowledged changes?
 */
import type { ScanEnd } from '../segments/scan.ts'
import type { CommitMark } from './commit-mark.ts'

/** The newest segment as it was found. */
export interface NewestEnd extends ScanEnd {
  readonly number: number
  /** Of the file, in bytes. */
  readonly size: number
  /** The newest revision that can be read. */
  readonly revision: number
}

/**
 * `whole`: nothing is missing. `torn`: what follows the last whole batch was never acknowledged, as far as the mark
 * says; without a mark it is not known. `lost`: acknowledged changes are missing or cannot be read; `why` says so in
 * words.
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

/** Records that were moved to give space back have no revisions of their own. */
function revisionsBetween(there: number, acknowledged: number): string {
  if (acknowledged <= there) return ''
  return acknowledged === there + 1 ? `: revision ${acknowledged}` : `: revisions ${there + 1} to ${acknowledged}`
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
