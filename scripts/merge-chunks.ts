/**
 * Merges chunks that are always loaded together. esbuild creates a chunk for every set of entries that reach a module,
 * and every dynamic import is an entry: hundreds of small chunks, half of which a start has to find, read and link.
 * Here the sets are of programs instead: a program is everything that always runs when something is started.
 */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'

export interface Program {
  /**
   * The sources that it always loads, each an entry of the build or a dynamic import. A pattern selects all matching
   * ones.
   */
  readonly sources: readonly (string | RegExp)[]
}

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
  const groups = groupsOf(graph, programs, others)
  const groupOf = new Map([...groups].flatMap(([group, members]) => members.map((member) => [member, group] as const)))
  const exportsOf = (chunk: string): readonly string[] => graph.get(chunk)?.exports ?? []
  /** Exports of a group are prefixed with their chunk, since two chunks may export the same name. */
  const renamed = (chunk: string, of: (name: string, inGroup: string) => string): string =>
    exportsOf(chunk)
      .map((name) => of(name, `${chunk.replace(/\W/g, '_')}_${name}`))
      .join(', ')
  const namedInGroup = (chunk: string, from: string): string =>
    `export { ${renamed(chunk, (name, inGroup) => `${inGroup} as ${name}`)} } from ${from}`

  const plugin: Plugin = {
    name: 'merge-chunks',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, importer, kind, namespace }) => {
        const name = path.replace('./', '')
        if (kind === 'entry-point') return { path: name, namespace: 'merged' }
        if (path.startsWith('chunk:')) return { path: path.slice('chunk:'.length), namespace: 'chunk' }
        if (kind !== 'import-statement' || namespace === 'moved' || !graph.has(name)) return { path, external: true }
        const group = groupOf.get(name)
        if (!group) return { path, external: true }
        return group === groupOf.get(importer) ? { path: name, namespace: 'chunk' } : { path: name, namespace: 'moved' }
      })
      onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => ({ contents: withoutBanner(chunks, path) }))
      onLoad({ filter: /.*/, namespace: 'moved' }, ({ path }) => ({
        contents: namedInGroup(path, `"./${groupOf.get(path)}"`),
      }))
      onLoad({ filter: /.*/, namespace: 'merged' }, ({ path }) => ({ contents: contentsOf(path) }))
    },
  }
  function contentsOf(file: string): string {
    const members = groups.get(file)
    if (!members)
      return groupOf.has(file)
        ? namedInGroup(file, `"./${groupOf.get(file)}"`)
        : `import 'chunk:${file}'; export * from 'chunk:${file}'`
    return members
      .map(
        (chunk) =>
          `import 'chunk:${chunk}'; export { ${renamed(chunk, (name, inGroup) => `${name} as ${inGroup}`)} } ` +
          `from 'chunk:${chunk}'`,
      )
      .join('\n')
  }

  // Members that are imported dynamically keep a file of their own, which re-exports from the group.
  const files = [
    ...groups.keys(),
    ...[...graph].filter(([chunk, { source }]) => source || !groupOf.has(chunk)).map(([chunk]) => chunk),
  ]
  const { outputFiles } = await build({
    entryPoints: files.map((file) => ({ in: file, out: file.replace(/\.js$/, '') })),
    outdir: '.',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    plugins: [plugin],
    write: false,
    // The first build has printed the warnings of packages.
    logLevel: 'error',
  })
  return namedByContent(new Map(outputFiles.map(({ path, text }) => [basename(path), text])), graph)
}

interface Chunk {
  /** Its source, if it is an entry or imported dynamically. */
  readonly source: string | undefined
  readonly exports: readonly string[]
  readonly imports: readonly string[]
  readonly onDemand: readonly string[]
}

function graphOf({ outputs }: Metafile): Map<string, Chunk> {
  return new Map(
    Object.entries(outputs).map(([path, { entryPoint, exports, imports }]) => {
      const of = (kind: string): string[] =>
        imports.filter((one) => !one.external && one.kind === kind).map((one) => basename(one.path))
      return [
        basename(path),
        { source: entryPoint, exports, imports: of('import-statement'), onDemand: of('dynamic-import') },
      ]
    }),
  )
}

/** Returns the chunks to merge, by the name of the merged file. */
function groupsOf(
  graph: ReadonlyMap<string, Chunk>,
  programs: readonly Program[],
  others: readonly Program[],
): Map<string, string[]> {
  const entries = [...graph].flatMap(([chunk, { source }]) => (source ? [{ chunk, source }] : []))
  function loadedBy({ sources }: Program): Set<string> {
    const from = sources.flatMap((wanted) => {
      const found = entries.filter(({ source }) =>
        typeof wanted === 'string' ? source === wanted : wanted.test(source),
      )
      if (found.length === 0)
        throw new Error(
          `${wanted} is no entry of the bundle and not imported dynamically: fix the programs in scripts/build.ts`,
        )
      return found.map(({ chunk }) => chunk)
    })
    return closure(from, (chunk) => graph.get(chunk)?.imports ?? [])
  }
  const loads = programs.map(loadedBy)
  const all = [...loads, ...others.map(loadedBy)]
  // The files of entries are imported by name.
  const merged = [...graph.keys()].filter((chunk) => isHashed(chunk) && loads.some((loaded) => loaded.has(chunk)))
  const bySet = Map.groupBy(merged, (chunk) => all.map((loaded) => Number(loaded.has(chunk))).join(''))
  return new Map(
    [...bySet.values()].filter(({ length }) => length > 1).map((members, index) => [`group-${index}.js`, members]),
  )
}

function closure(from: readonly string[], next: (chunk: string) => readonly string[]): Set<string> {
  const found = new Set(from)
  // Iterating over a set includes elements added meanwhile.
  for (const chunk of found) for (const other of next(chunk)) found.add(other)
  return found
}

function withoutBanner({ texts, banner }: Chunks, chunk: string): string {
  const text = texts.get(chunk) ?? ''
  const rest = text.replace(banner, '')
  return /\brequire\b/.test(rest) ? text : rest
}

const hashed = /-[A-Z0-9]{8}\.js$/
const isHashed = (file: string): boolean => hashed.test(file)
const reference = /(?<=")\.\/([\w.-]+\.js)(?=")/g

/**
 * Renames files so that the name changes with the content of the file and of those it loads. Entries keep their names.
 */
function namedByContent(texts: ReadonlyMap<string, string>, graph: ReadonlyMap<string, Chunk>): Map<string, string> {
  const referred = new Map(
    [...texts].map(([file, text]) => [
      file,
      [...text.matchAll(reference)].map(([, name = '']) => name).filter((name) => texts.has(name)),
    ]),
  )
  const nameOf = (file: string): string => {
    if (graph.has(file) && !isHashed(file)) return file
    const hash = createHash('sha256').update(file)
    for (const reached of [...closure([file], (other) => referred.get(other) ?? [])].sort())
      hash.update(`${reached}\n${texts.get(reached)}\n`)
    return `${file.replace(hashed, '').replace(/\.js$/, '')}-${hash.digest('hex').slice(0, 8).toUpperCase()}.js`
  }
  const names = new Map([...texts.keys()].map((file) => [file, nameOf(file)]))
  return new Map(
    [...texts].map(([file, text]) => [
      names.get(file)!,
      text.replace(reference, (whole, name: string) => (names.has(name) ? `./${names.get(name)}` : whole)),
    ]),
  )
}
