/**
 * Merges chunks that are always loaded together. esbuild creates a chunk for every set of entries that reach a module,
 * and every dynamic import is an entry: hundreds of small chunks, half of which a start has to find, read and link.
 * Here the sets are of programs instead: a program is everything that always runs when something is started.
 */
import { basename } from 'node:path'
import { build, type Metafile, type OnResolveArgs, type OnResolveResult, type Plugin } from 'esbuild'
import { type Chunk, graphOf, groupsOf, type Program } from './chunk-graph.ts'
import { namedByContent } from './content-names.ts'

export interface Chunks {
  /** File contents by name. */
  readonly texts: ReadonlyMap<string, string>
  readonly metafile: Metafile
  /** The common first lines; omitted in files that do not need them. */
  readonly banner: string
}

/**
 * Merges the chunks used by the same set of `programs` and the same set of `others`, so that none of them loads much
 * more than it needs. The files of entries keep their names; the others are named by a hash of their content and
 * imports.
 */
export async function mergeChunks(
  chunks: Chunks,
  programs: readonly Program[],
  others: readonly Program[],
): Promise<Map<string, string>> {
  const graph = graphOf(chunks.metafile)
  const merge = new Merge(chunks, graph, groupsOf(graph, programs, others))
  const { outputFiles } = await build({
    entryPoints: merge.files().map((file) => ({ in: file, out: file.replace(/\.js$/, '') })),
    outdir: '.',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node18',
    plugins: [merge.plugin()],
    write: false,
    // The first build has printed the warnings of packages.
    logLevel: 'error',
  })
  return namedByContent(new Map(outputFiles.map(({ path, text }) => [basename(path), text])), graph)
}

/** The second build: its sources are the chunks of the first one, its files are groups and the remaining chunks. */
class Merge {
  readonly #chunks: Chunks
  readonly #graph: ReadonlyMap<string, Chunk>
  /** The members of each group. */
  readonly #groups: ReadonlyMap<string, readonly string[]>
  /** The group of each member. */
  readonly #groupOf: ReadonlyMap<string, string>

  constructor(chunks: Chunks, graph: ReadonlyMap<string, Chunk>, groups: ReadonlyMap<string, readonly string[]>) {
    this.#chunks = chunks
    this.#graph = graph
    this.#groups = groups
    this.#groupOf = new Map(
      [...groups].flatMap(([group, members]) => members.map((member) => [member, group] as const)),
    )
  }

  files(): string[] {
    return [...this.#groups.keys(), ...[...this.#graph.keys()].filter((chunk) => !this.#groupOf.has(chunk))]
  }

  /** The namespaces are `merged` for files to write, `chunk` for chunks, `moved` for chunks in another group. */
  plugin(): Plugin {
    return {
      name: 'merge-chunks',
      setup: ({ onResolve, onLoad }) => {
        onResolve({ filter: /.*/ }, (args) => this.#resolve(args))
        onLoad({ filter: /.*/, namespace: 'merged' }, ({ path }) => ({ contents: this.#contentsOf(path) }))
        onLoad({ filter: /.*/, namespace: 'moved' }, ({ path }) => ({ contents: this.#exportsFromGroup(path) }))
        onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => ({
          contents: this.#withGroups(withoutBanner(this.#chunks, path)),
        }))
      },
    }
  }

  #resolve({ path, importer, kind, namespace }: OnResolveArgs): OnResolveResult {
    const name = path.replace('./', '')
    if (kind === 'entry-point') return { path: name, namespace: 'merged' }
    if (path.startsWith('chunk:')) return { path: path.slice('chunk:'.length), namespace: 'chunk' }
    const group = this.#groupOf.get(name)
    if (kind !== 'import-statement' || namespace === 'moved' || !group) return { path, external: true }
    return { path: name, namespace: group === this.#groupOf.get(importer) ? 'chunk' : 'moved' }
  }

  #contentsOf(file: string): string {
    const members = this.#groups.get(file)
    if (members) return members.map((chunk) => this.#exportsToGroup(chunk)).join('\n')
    return `import 'chunk:${file}'; export * from 'chunk:${file}'`
  }

  /** Members that are imported dynamically are exported as a whole, too. */
  #exportsToGroup(chunk: string): string {
    const names = this.#exportsOf(chunk, (name, inGroup) => `${name} as ${inGroup}`)
    const whole = this.#graph.get(chunk)?.source ? `export * as ${nameInGroup(chunk)} from 'chunk:${chunk}'` : ''
    return `import 'chunk:${chunk}'; export { ${names} } from 'chunk:${chunk}'; ${whole}`
  }

  /** Imports members dynamically from their groups: a file for each would have to be found, read and linked. */
  #withGroups(text: string): string {
    return text.replace(dynamicImport, (whole, name: string) => {
      const group = this.#groupOf.get(name)
      return group ? `import("./${group}").then((group) => group.${nameInGroup(name)})` : whole
    })
  }

  #exportsFromGroup(chunk: string): string {
    const names = this.#exportsOf(chunk, (name, inGroup) => `${inGroup} as ${name}`)
    return `export { ${names} } from "./${this.#groupOf.get(chunk)}"`
  }

  /** Exports of a group are prefixed with their chunk, since two chunks may export the same name. */
  #exportsOf(chunk: string, format: (name: string, inGroup: string) => string): string {
    const names = this.#graph.get(chunk)?.exports ?? []
    return names.map((name) => format(name, `${nameInGroup(chunk)}_${name}`)).join(', ')
  }
}

const dynamicImport = /\bimport\("\.\/([\w.-]+\.js)"\)/g
const nameInGroup = (chunk: string): string => chunk.replace(/\W/g, '_')

function withoutBanner({ texts, banner }: Chunks, chunk: string): string {
  const text = texts.get(chunk) ?? ''
  const rest = text.replace(banner, '')
  return /\brequire\b/.test(rest) ? text : rest
}
