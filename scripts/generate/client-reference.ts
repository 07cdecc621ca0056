/**
 * Generates the reference of `typernetes/client`, `typernetes/test` and `typernetes/testing` from their doc comments:
 * `.build/docs/client-reference.md`. Relies on the formatting of the code instead of a parser.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** An exported name. */
export interface Documented {
  readonly name: string
  /** Its doc comment as plain text; empty if it has none. */
  readonly comment: string
  /** Its declaration without function bodies, with the doc comments of members. */
  readonly declaration: string
}

const root = join(import.meta.dirname, '../..')

/** Returns the exports of an index, sorted by name; without the kinds, which `export *` exports. */
export function documentedOf(index: string): Documented[] {
  const found: Documented[] = []
  for (const [, names = '', file = ''] of readFileSync(index, 'utf8').matchAll(
    /^export (?:type )?\{([^}]*)\} from '([^']+)'/gm,
  )) {
    const source = readFileSync(resolve(dirname(index), file), 'utf8')
    for (const name of names.split(',').map((text) => text.trim().replace(/^type /, '')))
      if (name) found.push(documented(source, name))
  }
  return found.sort((a, b) => a.name.localeCompare(b.name))
}

function documented(source: string, name: string): Documented {
  const start = new RegExp(String.raw`^export (?:async )?(?:class|interface|type|const|function) ${name}\b`, 'm').exec(
    source,
  )
  // Re-exported from another file.
  if (!start) return { name, comment: '', declaration: '' }
  const before = source.slice(0, start.index)
  const [, comment = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(before) ?? []
  const declaration = declarationAt(source.slice(start.index))
  // The comment at the top of a file documents its class.
  const [, top = ''] = /^\/\*\*((?:(?!\*\/)[\s\S])*)\*\//.exec(source) ?? []
  return { name, comment: plain(comment || (declaration.startsWith('export class') ? top : '')), declaration }
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
  if (first.startsWith('export const')) return text.slice(0, text.search(/ =>|\n\n/) >>> 0)
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

/** Markdown of a doc comment, with its `@example` as a code block. */
function commentMarkdown(comment: string): string {
  const [text = '', example] = comment.split(/\n?@example[ \n]/)
  return example === undefined ? text : `${text}\n\n\`\`\`ts\n// Example\n${example}\n\`\`\``
}

/** All of it as Markdown. */
export function reference(): string {
  const parts = [
    { module: 'typernetes/client', index: join(root, 'src/client/index.ts') },
    { module: 'typernetes/test', index: join(root, 'src/cluster/testkit/index.ts') },
    { module: 'typernetes/testing', index: join(root, 'src/cluster/testing/index.ts') },
  ]
  const sections = parts.map(({ module, index }) => {
    const entries = documentedOf(index).filter(({ declaration }) => declaration !== '')
    const texts = entries.map(
      ({ name, comment, declaration }) =>
        `### ${name}\n\n${commentMarkdown(comment)}\n\n\`\`\`ts\n${declaration}\n\`\`\`\n`,
    )
    return `## ${module}\n\n${texts.join('\n')}`
  })
  const kinds = [...readFileSync(join(root, 'src/client/kinds.ts'), 'utf8').matchAll(/^export const (\w+) =/gm)].map(
    ([, name]) => `\`${name}\``,
  )
  return (
    `# Reference\n\n${sections.join('\n')}\n## Kinds\n\nEach with the type of its objects (\`pods\`, \`Pod\`): ` +
    `${kinds.join(', ')}.\n`
  )
}

if (import.meta.main) {
  const file = join(root, '.build/docs/client-reference.md')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, reference())
  console.log(`written to ${file}`)
}
