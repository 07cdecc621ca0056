/** The names that a module exports, with the files that declare them. Relies on the formatting of the code. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export interface ExportedName {
  readonly name: string
  /** The file with the declaration. */
  readonly file: string
}

const declarations = /^export (?:async )?(?:abstract )?(?:class|interface|type|const|function\*?) (\w+)/gm
const namedExports = /^export (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm
const starExports = /^export (?:type )?\* from '(\.[^']+)'/gm

/** Returns all names that a module declares or exports from others, in the order of the code. */
export function exportsOf(file: string): readonly ExportedName[] {
  const source = readFileSync(file, 'utf8')
  const at = (path: string): string => resolve(dirname(file), path)
  const named = [...source.matchAll(namedExports)].flatMap(([, names = '', path = '']) =>
    names
      .split(',')
      .map((text) => text.trim().replace(/^type /, ''))
      .filter(Boolean)
      .map((name) => exportedFrom(at(path), name)),
  )
  const all = [...source.matchAll(starExports)].flatMap(([, path = '']) => exportsOf(at(path)))
  const own = [...source.matchAll(declarations)].map(([, name = '']) => ({ name, file }))
  return [...named, ...all, ...own]
}

/** Follows exports of exports to the declaration. Throws an Error without one. */
function exportedFrom(file: string, name: string): ExportedName {
  const found = exportsOf(file).find((one) => one.name === name)
  if (!found) throw new Error(`${file} has no export ${name}`)
  return found
}
