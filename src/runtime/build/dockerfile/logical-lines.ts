/** Joins the lines of a Dockerfile: comments, continued lines, and here-documents. */
import { buildError } from './build-error.ts'

export interface HereDocument {
  /** The word that ends it. */
  readonly name: string
  /** False if the word is quoted: then variables in it remain. */
  readonly isExpanded: boolean
  readonly content: string
  /** As in the file, with the line that ends it. */
  readonly source: string
}

export interface LogicalLine {
  /** The number of its first line. */
  readonly line: number
  readonly text: string
  readonly documents: readonly HereDocument[]
}

export interface LogicalLines {
  /** The character that continues lines and takes the meaning from others: `\`, or a backquote. */
  readonly escapeCharacter: string
  readonly lines: readonly LogicalLine[]
}

/** Instructions that may have here-documents. */
const withDocuments = /^(?:RUN|COPY|ADD)\s/i
const marker = /^\d*<<(-?)(["']?)([A-Za-z_.][\w.]*)\2$/

/** Throws an ImageError for a file that ends too early. `file` is its name in errors. */
export function logicalLines(text: string, file: string): LogicalLines {
  const rows = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const escapeCharacter = escapeDirective(rows, file)
  const continued = escapeCharacter === '\\' ? /\\[ \t]*$/ : /`[ \t]*$/
  const lines: LogicalLine[] = []
  for (let at = 0; at < rows.length; at++) {
    if (isSkipped(rows[at]!)) continue
    const line = at + 1
    let joined = rows[at]!.trimStart()
    while (continued.test(joined) && at + 1 < rows.length) {
      at++
      // Comments and empty lines do not end an instruction.
      if (!isSkipped(rows[at]!)) joined = joined.replace(continued, '') + rows[at]!
    }
    const complete = joined.replace(continued, '').trim()
    const { documents, next } = readDocuments(complete, rows, at + 1, { file, line })
    at = next - 1
    lines.push({ line, text: complete, documents })
  }
  return { escapeCharacter, lines }
}

const isSkipped = (row: string): boolean => /^\s*(?:#|$)/.test(row)

/** Directives are comments at the beginning of the file: `# escape=`. */
function escapeDirective(rows: readonly string[], file: string): string {
  for (const [index, row] of rows.entries()) {
    const [, name = '', value = ''] = /^#\s*(\w+)\s*=\s*(.+?)\s*$/.exec(row) ?? []
    if (name === '') return '\\'
    if (name.toLowerCase() !== 'escape') continue
    if (value === '\\' || value === '`') return value
    throw buildError({ file, line: index + 1 }, `the escape character must be \\ or \`, not ${value}`)
  }
  return '\\'
}

function readDocuments(
  text: string,
  rows: readonly string[],
  start: number,
  place: { readonly file: string; readonly line: number },
): { readonly documents: HereDocument[]; readonly next: number } {
  const documents: HereDocument[] = []
  let next = start
  if (!withDocuments.test(text)) return { documents, next }
  for (const word of text.split(/\s+/)) {
    const [, dash, quote, name] = marker.exec(word) ?? []
    if (name === undefined) continue
    const content: string[] = []
    const first = next
    const plain = (row: string): string => (dash ? row.replace(/^\t+/, '') : row)
    while (next < rows.length && plain(rows[next]!) !== name) content.push(`${plain(rows[next++]!)}\n`)
    if (next === rows.length) throw buildError(place, `no line ends the here-document: write ${name} alone in a line`)
    next++
    documents.push({
      name,
      isExpanded: quote === '',
      content: content.join(''),
      source: rows.slice(first, next).join('\n'),
    })
  }
  return { documents, next }
}
