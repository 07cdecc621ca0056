/** Breaks lines that are too long for a terminal between words. */

/** The indent of the lines after a break. */
const indent = '  '

/**
 * Returns the text with breaks between words, so that no line has more than `columns` characters; only a longer word
 * has a longer line. Spaces at the beginning stay.
 */
export function wrapped(line: string, columns: number): string {
  if (line.length <= columns) return line
  const [start = ''] = /^ */.exec(line)!
  const lines: string[] = []
  let last = start
  let isEmpty = true
  for (const word of line.slice(start.length).split(' ')) {
    const extended = isEmpty ? last + word : `${last} ${word}`
    if (isEmpty || extended.length <= columns) last = extended
    else {
      lines.push(last)
      last = start + indent + word
    }
    isEmpty = false
  }
  return [...lines, last].join('\n')
}
