/** Explains the stack of a crash: the offset behind a line's number, and why some calls show no words. */
import type { Frame } from './dump/frame.ts'
import { originOf } from './goroutines/origin.ts'

/**
 * Sentences about the stack of a goroutine, of which `own` is the frame that matters; none where there is nothing to
 * explain.
 */
export function stackNotes(frames: readonly Frame[], own: Frame | undefined): readonly string[] {
  const notes: string[] = []
  const placed =
    own?.offset === undefined ? frames.find((frame) => frame.offset !== undefined && originOf(frame) === 'own') : own
  if (placed?.offset !== undefined) {
    const { offset, line } = placed
    notes.push(
      `${hex(offset)} behind line ${line}: the instruction lies ${offset} bytes behind the first one of the ` +
        `function. Of callers it is the one that the call returns to. \`go tool objdump -s '${pattern(placed)}' ` +
        'PROGRAM` lists them.',
    )
  }
  if (own?.inlined ?? frames.some(({ inlined }) => inlined))
    notes.push(
      '(inlined): the code of the function is part of its caller, and its arguments are not known. With ' +
        '`//go:noinline` above it, or built with `-gcflags="all=-N -l"`, it is a call of its own.',
    )
  return notes
}

const hex = (offset: number): string => `+0x${offset.toString(16)}`

/** Objdump takes a regular expression. */
const pattern = ({ function: { full } }: Frame): string => `^${full.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`
