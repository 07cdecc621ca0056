/** Chooses test files by path, and by what has changed. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { importsOf } from '../checks/layers.ts'

/**
 * Returns the tests of paths: a test itself, the test beside a source file, or all tests below a folder. Throws an
 * Error for a path that has none.
 */
export function testsOf(paths: readonly string[], files: readonly string[], root: string): string[] {
  const found = paths.flatMap((given) => {
    const path = normalize(given).replace(/\/$/, '')
    const own = path.replace(/(?<!\.test)\.ts$/, '.test.ts')
    const chosen = files.filter((file) => file === own || file.startsWith(`${path}/`))
    if (chosen.length > 0) return chosen
    const isThere = existsSync(join(root, path))
    throw new Error(
      isThere
        ? `${given} has no tests: name its folder, or run npm test -- --changed`
        : `there is no step and no file ${given}`,
    )
  })
  return [...new Set(found)].sort()
}

/** Returns the files that differ from the last commit, new ones included. */
export function changedFiles(root: string): string[] {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  return [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')].filter((file) =>
    existsSync(join(root, file)),
  )
}

/**
 * Returns the tests that import one of `changed`, directly or through other files, and changed tests. Tests of `test/`
 * that run `./t8s` import no source: they are chosen by changes of themselves and of what they import.
 */
export function testsAffectedBy(changed: readonly string[], files: readonly string[], root: string): string[] {
  const importers = importersOf(files, root)
  const affected = new Set(changed)
  // Iterates over the files that it adds, too.
  for (const file of affected) for (const importer of importers.get(file) ?? []) affected.add(importer)
  return files.filter((file) => affected.has(file))
}

/** Returns the files that import each file, as far as `files` lead to it. */
function importersOf(files: readonly string[], root: string): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  const reached = new Set(files)
  for (const file of reached)
    for (const imported of importedBy(file, root)) {
      reached.add(imported)
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  return importers
}

function importedBy(file: string, root: string): string[] {
  if (!file.endsWith('.ts')) return []
  return importsOf(readFileSync(join(root, file), 'utf8'))
    .map(({ specifier }) => join(dirname(file), specifier))
    .filter((other) => existsSync(join(root, other)) && statSync(join(root, other)).isFile())
}
