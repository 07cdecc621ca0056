/** Errors of compiling an expression, formatted like cel-go's: the position, the line, and a caret below it. */

export interface Issue {
  readonly message: string
  /** An index into the source. Undefined: the whole expression. */
  readonly position: number | undefined
}

const maxIssues = 100

/** Formats the first 100 issues by position: `ERROR: <input>:1:5: message`, the line of the source and a pointer. */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const placed = issues.slice(0, maxIssues).sort((a, b) => (a.position ?? -1) - (b.position ?? -1))
  const shown = placed.map((issue) => formatIssue(source, issue))
  return (
    issues.length > maxIssues ? [...shown, `${issues.length - maxIssues} more errors were truncated`] : shown
  ).join('\n')
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

/** Returns true for characters of more than one byte, for which the pointer uses wide characters. */
const wide = (character: string): boolean => (character.codePointAt(0) ?? 0) > 0x7f
