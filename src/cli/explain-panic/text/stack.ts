/** Formats stacks for a terminal: marks the failing frame, folds repeated calls, highlights the program's own code. */

import { foldCycles } from '../../../tools/panics/goroutines/folded-cycles.ts'
import type { FrameReport, GoroutineReport } from '../../../tools/panics/report.ts'
import type { TextOptions } from './reports.ts'

/** Frames that are shown without --all. */
const maxFrames = 40

export interface StackOptions extends TextOptions {
  readonly failed?: number
  readonly own?: number
}

type Stack = Pick<GoroutineReport, 'frames' | 'elided' | 'unavailable' | 'ancestors'>

export function stackText({ frames, elided, unavailable, ancestors }: Stack, options: StackOptions): string[] {
  const { colours, all, failed, own } = options
  const lines: string[] = []
  let shown = 0
  for (const { from, length, times } of foldCycles(frames, placeOf)) {
    if (times > 1) lines.push(colours.warning(`    ${times} times:`))
    for (let at = from; at < from + length; at++) {
      if (!all && shown++ >= maxFrames) continue
      const frame = frames[at]!
      const mark = at === failed ? '→' : at === own ? '•' : ' '
      const text = `${times > 1 ? '  ' : ''}${mark} ${frameText(frame)}${frame.inlined ? ' (inlined)' : ''}`
      const place = `${times > 1 ? '  ' : ''}      ${placeText(frame)}`
      lines.push(
        `  ${frame.origin === 'own' ? colours.strong(text) : colours.faint(text)}`,
        colours.faint(`  ${place}`),
      )
    }
  }
  if (!all && shown > maxFrames) lines.push(colours.faint(`    ${shown - maxFrames} more frames: --all shows them`))
  if (elided) lines.push(colours.faint(`    … ${elided === true ? 'more' : elided} frames that Go omitted`))
  if (unavailable) lines.push(colours.faint('    it ran on another thread: its stack is unknown'))
  for (const { goroutine, frames } of ancestors ?? [])
    lines.push(`    created by goroutine ${goroutine}, which was in`, ...stackText({ frames }, { colours, all }))
  return lines
}

const placeOf = (frame: FrameReport): string => `${frame.function} ${frame.file}:${frame.line}`

/** `example.com/shop/cart: (*Cart).Add, closure func1`. */
export function frameText({
  function: full,
  package: pkg,
  receiver,
  name,
  closure,
  wrapper,
  origin,
  version,
  module,
}: FrameReport): string {
  if (pkg === '') return full
  // A function in a package variable has no name of its own (Go prints glob..func1).
  const called = name === 'glob' && closure ? 'a variable' : name
  const method = receiver === undefined ? called : `${receiver.startsWith('*') ? `(${receiver})` : receiver}.${name}`
  const details = [
    closure && `closure ${closure}`,
    wrapper,
    origin === 'module' && version ? `${module} ${version}` : '',
  ].filter(Boolean)
  return `${pkg}: ${method}${details.length > 0 ? `, ${details.join(', ')}` : ''}`
}

function placeText({ file, line, offset, words }: FrameReport): string {
  const place = file === '' ? 'C code' : `${file}:${line}`
  return `${place}${offset === undefined ? '' : ` +0x${offset.toString(16)}`}${words ? `  (${words})` : ''}`
}
