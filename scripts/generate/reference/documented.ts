/** The doc comment and the declaration of an exported name. Relies on the formatting of the code, without a parser. */
import { readFileSync } from 'node:fs'
import { type ExportedName, exportsOf } from './exports.ts'

/** An exported name. */
export interface Documented extends ExportedName {
  /** Its doc comment as plain text; empty if it has none. */
  readonly comment: string
  /** Its declaration without function bodies, with the doc comments of members. */
  readonly declaration: string
}

/** Returns the exports of a module, sorted by name. */
export const documentedOf = (index: string): readonly Documented[] =>
  exportsOf(index)
    .map(documented)
    .sort((a, b) => a.name.localeCompare(b.name))

function documented({ name, file }: ExportedName): Documented {
  const source = readFileSync(file, 'utf8')
  const pattern = String.raw`^export (?:async )?(?:abstract )?(?:class|interface|type|const|function\*?) ${name}\b`
  const start = new RegExp(pattern, 'm').exec(source)
  if (!start) throw new Error(`${file} declares no ${name}`)
  const before = source.slice(0, start.index)
  const [, comment = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(before) ?? []
  const declaration = declarationAt(source.slice(start.index))
  // The comment at the top of a file documents its class.
  const [, top = ''] = /^\/\*\*((?:(?!\*\/)[\s\S])*)\*\//.exec(source) ?? []
  return { name, file, comment: plain(comment || (declaration.startsWith('export class') ? top : '')), declaration }
}

const plain = (comment: string): string =>
  comment
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim()

function declarationAt(text: string): string {
  const block = text.slice(0, /^[})].*$|^export (?:type|const)[^\n]*[^{(,|&=>]$/m.exec(text)?.index ?? text.length)
  const [first = ''] = text.split('\n')
  if (/^export (async )?function/.test(first)) return signature(text)
  if (first.startsWith('export class')) return `${classFace(`${block}}`)}`
  if (first.startsWith('export interface')) return first.endsWith('}') ? first : `${block}}`
  if (first.startsWith('export const')) return text.slice(0, text.search(/ =>|\n\n|\n(?=const |\/\*\*)/) >>> 0)
  return text.slice(0, text.search(/\n\n|\n(?=export )/) >>> 0)
}

/** Returns the signature without the body. */
function signature(text: string): string {
  const end = /\)(?:: [^\n]*)? \{$/m.exec(text)
  return text.slice(0, end ? end.index + end[0].length - 2 : text.indexOf('\n'))
}

/** Returns the public members of a class with their comments. */
function classFace(text: string): string {
  const lines = text.split('\n')
  const shown: string[] = [lines[0] ?? '']
  let comment: string[] = []
  let inComment = false
  for (const line of lines.slice(1)) {
    if (/^ {2}\/\*\*/.test(line) || inComment) {
      comment.push(line)
      inComment = !line.includes('*/')
      continue
    }
    const isMember = /^ {2}(?:readonly |get |async |\*|async \*)?[a-z]\w*(?:<[^(]*>)?[(:]/.test(line)
    if (isMember && !/^ {2}constructor\(connection: Connection, namespace/.test(line))
      shown.push(...comment, line.replace(/ \{$/, ''))
    comment = []
  }
  return [...shown, '}'].join('\n')
}
