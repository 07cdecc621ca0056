/** Explains the stack of a crash: the offset after a line number, and calls without words. */
import type { Frame } from './dump/frame.ts'
import { originOf } from './goroutines/origin.ts'

/** Returns sentences about the stack of a goroutine. `own` is its most relevant frame. */
export function stackNotes(frames: readonly Frame[], own: Frame | undefined): readonly string[] {
  const notes: string[] = []
  const placed =
    own?.offset === undefined ? frames.find((frame) => frame.offset !== undefined && originOf(frame) === 'own') : own
  if (placed?.offset !== undefined) {
    const { offset, line } = placed
    notes.push(
      `${hex(offset)} after line ${line}: the instruction is ${offset} bytes after the start of the ` +
        `function. In a caller it is the return address of the call. \`go tool objdump -s '${pattern(placed)}' ` +
        'PROGRAM` lists the instructions.',
    )
  }
  if (own?.inlined ?? frames.some(({ inlined }) => inlined))
    notes.push(
      '(inlined): the code of the function is part of its caller, and its arguments are unknown. With ' +
        '`//go:noinline` above it, or built with `-gcflags="all=-N -l"`, it is a separate call.',
    )
  return notes
}

const hex = (offset: number): string => `+0x${offset.toString(16)}`

/** Returns a regular expression for objdump. */
const pattern = ({ function: { full } }: Frame): string => `^${full.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`
