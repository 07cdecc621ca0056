/** The chunks that esbuild created, what they import, and which of them belong together. */
import { basename } from 'node:path'
import type { Metafile } from 'esbuild'

export interface Program {
  /**
   * The sources that it always loads, each an entry of the build or a dynamic import. A pattern selects all matching
   * ones.
   */
  readonly sources: readonly (string | RegExp)[]
}

export interface Chunk {
  /** Its source, if it is an entry or imported dynamically. */
  readonly source: string | undefined
  readonly exports: readonly string[]
  readonly imports: readonly string[]
  readonly onDemand: readonly string[]
}

export function graphOf({ outputs }: Metafile): Map<string, Chunk> {
  return new Map(
    Object.entries(outputs).map(([path, { entryPoint, exports, imports }]) => {
      const importsOf = (kind: string): string[] =>
        imports.filter((one) => !one.external && one.kind === kind).map((one) => basename(one.path))
      return [
        basename(path),
        { source: entryPoint, exports, imports: importsOf('import-statement'), onDemand: importsOf('dynamic-import') },
      ]
    }),
  )
}

/** Returns the chunks to merge, by the name of the merged file. */
export function groupsOf(
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
          `${wanted} is no entry of the bundle and not imported dynamically: fix the programs in ` +
            'scripts/bundle/build.ts',
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

/** Returns `from` and all that `next` reaches from it. */
export function closure(from: readonly string[], next: (chunk: string) => readonly string[]): Set<string> {
  const found = new Set(from)
  // Iterating over a set includes elements added meanwhile.
  for (const chunk of found) for (const other of next(chunk)) found.add(other)
  return found
}

const hash = /-[A-Z0-9]{8}\.js$/
/** True for a name with a hash; the files of entries have none. */
export const isHashed = (file: string): boolean => hash.test(file)
export const withoutHash = (file: string): string => file.replace(hash, '').replace(/\.js$/, '')
