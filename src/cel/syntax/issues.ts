/**
 * Faults that are found while an expression is compiled, shown as cel-go shows them: the place, the line, and a caret
 * below it.
 */

export interface Issue {
  readonly message: string
  /** An index into the source; undefined: it is about the whole. */
  readonly position: number | undefined
}

const most = 100

/** `ERROR: <input>:1:5: message`, the source's line and a pointer; one after the other by place, of the first 100. */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const placed = issues.slice(0, most).sort((a, b) => (a.position ?? -1) - (b.position ?? -1))
  const shown = placed.map((issue) => formatIssue(source, issue))
  return (issues.length > most ? [...shown, `${issues.length - most} more errors were truncated`] : shown).join('\n')
}

function formatIssue(source: string, { message, position }: Issue): string {
  if (position === undefined) return `ERROR: <input>:-1:0: ${message}`
  const start = source.lastIndexOf('\n', position - 1) + 1
  const end = source.indexOf('\n', start)
  const line = source.slice(start, end < 0 ? undefined : end).replaceAll('\t', ' ')
  const before = [...line.slice(0, position - start)]
  const lineNumber = source.slice(0, start).split('\n').length
  const dots = before.map((character) => (wide(character) ? '．' : '.')).join('')
  const [first = ''] = line.slice(position - start)
  return (
    `ERROR: <input>:${lineNumber}:${before.length + 1}: ${message}\n | ${line}\n | ` +
    `${dots}${wide(first) ? '＾' : '^'}`
  )
}

/** Characters that take more than one byte are shown wide, so that the pointer stands below them. */
const wide = (character: string): boolean => (character.codePointAt(0) ?? 0) > 0x7f
