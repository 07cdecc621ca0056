/**
 * Generates the reference of all entry points of the package from their doc comments, a page for each, in
 * `.build/docs/reference`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { type Documented, documentedOf } from './reference/documented.ts'

const root = join(import.meta.dirname, '../..')

/** A module that users import. */
interface EntryPoint {
  /** As users write it: `typernetes/client`. */
  readonly module: string
  readonly index: string
  /** Its guide in docs. */
  readonly guide: string
  /** A file whose exports are listed by name only. */
  readonly listed?: string
}

const guides: Readonly<Record<string, string>> = {
  '.': 'start-cluster.md',
  './client': 'client.md',
  './scheduler': 'scheduler.md',
  './test': 'testing.md',
  './testing': 'client.md',
}

/** The entry points of package.json, in its order. Throws an Error for one without a guide. */
export function entryPoints(): readonly EntryPoint[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly types: string } | string>>
  }
  return Object.entries(exports).flatMap(([path, entry]) => {
    if (typeof entry === 'string') return []
    const guide = guides[path]
    if (guide === undefined)
      throw new Error(`the entry point ${path} of package.json has no guide in ${basename(import.meta.filename)}`)
    const index = join(root, entry.types.replace(/^\.\/\.build\/types/, 'src').replace(/\.d\.ts$/, '.ts'))
    const listed = path === './client' ? join(root, 'src/client/kinds.ts') : undefined
    return [{ module: `typernetes${path.slice(1)}`, index, guide, ...(listed && { listed }) }]
  })
}

/** Returns the Markdown of all pages by the names of their files. */
export function referencePages(): ReadonlyMap<string, string> {
  const points = entryPoints().map((point) => ({ ...point, names: documentedOf(point.index) }))
  const pages = points.map(({ module, guide, listed, names }): [string, string] => {
    const [shown, kinds] = [names.filter(({ file }) => file !== listed), names.filter(({ file }) => file === listed)]
    const anchors = anchorsOf(shown.map(({ name }) => name))
    const kindList = kinds.map(({ name }) => `\`${name}\``).join(', ')
    const text =
      `# ${module}\n\n[All entry points](README.md) · [Guide](../../../docs/${guide})\n\n` +
      `${shown.map(({ name }) => `[${name}](#${anchors.get(name)})`).join(' · ')}\n\n` +
      shown.map((one) => section(one, anchors)).join('\n') +
      (kindList && `\n## Kinds\n\nEach with the type of its objects (\`pods\`, \`Pod\`): ${kindList}.\n`)
    return [pageName(module), text]
  })
  const index = points.map(
    ({ module, names }) =>
      `| [${module}](${pageName(module)}) | ${names
        .slice(0, 6)
        .map(({ name }) => name)
        .join(', ')}, … |`,
  )
  return new Map([
    ['README.md', `# Reference\n\n| import from | names |\n| --- | --- |\n${index.join('\n')}\n`],
    ...pages,
  ])
}

const pageName = (module: string): string => `${module.replace('/', '-')}.md`

/** The anchors of headings, as GitHub makes them: in lower case, the second equal one with `-1`. */
function anchorsOf(names: readonly string[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  return new Map(
    names.map((name) => {
      const lower = name.toLowerCase()
      const count = counts.get(lower) ?? 0
      counts.set(lower, count + 1)
      return [name, count === 0 ? lower : `${lower}-${count}`]
    }),
  )
}

/** A name with its comment and its declaration, and links to the names in that. */
function section({ name, file, comment, declaration }: Documented, anchors: ReadonlyMap<string, string>): string {
  const words = new Set(declaration.replace(/\/\*[\s\S]*?\*\//g, '').match(/\b[A-Za-z]\w+\b/g))
  const related = [...words].filter((word) => word !== name && anchors.has(word)).sort()
  const links = related.map((word) => `[${word}](#${anchors.get(word)})`).join(', ')
  const source = relative(root, file)
  return (
    `## ${name}\n\n${commentMarkdown(comment)}\n\n\`\`\`ts\n${declaration}\n\`\`\`\n\n` +
    `${links && `See ${links}. `}Source: [${source}](../../../${source})\n`
  )
}

/** Markdown of a doc comment, with its `@example` as a code block. */
function commentMarkdown(comment: string): string {
  const [text = '', example] = comment.split(/\n?@example[ \n]/)
  return example === undefined ? text : `${text}\n\n\`\`\`ts\n// Example\n${example}\n\`\`\``
}

if (import.meta.main) {
  const folder = join(root, '.build/docs/reference')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of referencePages()) writeFileSync(join(folder, name), text)
  console.log(`written to ${join(folder, 'README.md')}`)
}
